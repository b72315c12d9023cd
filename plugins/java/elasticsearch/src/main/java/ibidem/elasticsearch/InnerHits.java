package ibidem.elasticsearch;

import ibidem.core.InnerHitParts;
import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.index.query.InnerHitContextBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.retriever.RetrieverBuilder;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.xcontent.NamedXContentRegistry;

/** Leaves inner hits out of queries and retrievers. */
record InnerHits(NamedXContentRegistry parsers) {
    /** Returns whether a query asks for some; null asks for none. */
    static boolean areIn(QueryBuilder query) {
        Map<String, InnerHitContextBuilder> inner = new HashMap<>();
        if (query != null) {
            InnerHitContextBuilder.extractInnerHits(query, inner);
        }
        return !inner.isEmpty();
    }

    /** Returns a query without inner hits. */
    QueryBuilder drop(QueryBuilder query) {
        if (!areIn(query)) {
            return query;
        }
        return json().query(InnerHitParts.drop(json().map(query)));
    }

    /** Returns a copy of a retriever, which the search that it goes into may change. */
    RetrieverBuilder copy(RetrieverBuilder retriever, boolean withInnerHits) {
        Map<String, Object> parts = json().map(retriever);
        return json().retriever(withInnerHits ? parts : InnerHitParts.drop(parts));
    }

    private Json json() {
        return new Json(parsers);
    }

    /** Returns a search for nearest neighbours without inner hits. */
    static KnnSearchBuilder drop(KnnSearchBuilder search) {
        if (search.innerHit() == null) {
            return search;
        }
        return new KnnSearchBuilder(
                        search.getField(),
                        search.getQueryVector(),
                        search.getQueryVectorBuilder(),
                        search.k(),
                        search.getNumCands(),
                        search.getVisitPercentage(),
                        search.getRescoreVectorBuilder(),
                        search.getSimilarity())
                .addFilterQueries(search.getFilterQueries())
                .queryName(search.queryName())
                .boost(search.boost());
    }
}
