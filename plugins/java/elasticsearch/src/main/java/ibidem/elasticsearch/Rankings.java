package ibidem.elasticsearch;

import ibidem.core.RankingDepth;
import ibidem.core.Request;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.common.Strings;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.retriever.KnnRetrieverBuilder;
import org.elasticsearch.search.retriever.RetrieverBuilder;
import org.elasticsearch.search.retriever.StandardRetrieverBuilder;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.xcontent.NamedXContentRegistry;

/**
 * Makes the ranking of a search as deep as the window that is grouped.
 *
 * <p>A retriever ranks as many hits as it names itself, and so does a search for neighbours. One that ranks alone is read
 * as the parts of a search that the engine makes of it.
 */
final class Rankings {
    private static final int SIZE = 10;
    private static final float CANDIDATES = 1.5f;
    private static final String NUM_CANDIDATES = "num_candidates";
    private static final String MIN_SCORE = "min_score";
    private static final String RETRIEVER = "retriever";
    private static final String KNN = "knn";

    private final Json json;

    Rankings(NamedXContentRegistry parsers) {
        json = new Json(parsers);
    }

    /**
     * Makes a search deep enough.
     *
     * @param window how many hits are grouped at least
     */
    DeepSearch deepen(SearchRequest request, int window) {
        SearchSourceBuilder search = request.source();
        RankingDepth depth = RankingDepth.of(window, search.size());
        SearchSourceBuilder source = search.shallowCopy();
        int ranked = Request.DEEPEST;
        if (search.retriever() != null) {
            source.query(null);
            ranked = retrieve(search.retriever(), source, depth);
        }
        deepenQuery(source, depth);
        List<KnnSearchBuilder> nearest = source.knnSearch();
        source.knnSearch(IntStream.range(0, nearest.size())
                .mapToObj(at -> deepened(nearest.get(at), depth, nearest.size() == 1 ? KNN : KNN + "[" + at + "]"))
                .toList());
        return new DeepSearch(new SearchRequest(request).source(source), depth.raised(), ranked);
    }

    /** Puts a retriever into a search, and returns the most hits that it ranks. */
    private int retrieve(RetrieverBuilder retriever, SearchSourceBuilder source, RankingDepth depth) {
        Map<String, Object> outer = json.map(retriever);
        if (retriever instanceof StandardRetrieverBuilder || retriever instanceof KnnRetrieverBuilder) {
            rankAlone(retriever.getName(), outer, source, depth);
            return Request.DEEPEST;
        }
        Map<String, Object> deep = depth.retriever(outer, RETRIEVER);
        source.retriever(json.retriever(deep));
        return RankingDepth.rankedHits(deep);
    }

    /** Puts a retriever that ranks alone into a search, as parts of it. */
    @SuppressWarnings("unchecked") // a retriever is an object with one member, which is an object
    private void rankAlone(String kind, Map<String, Object> outer, SearchSourceBuilder source, RankingDepth depth) {
        Map<String, Object> parts = (Map<String, Object>) outer.get(kind);
        if (parts.remove(MIN_SCORE) instanceof Number least) {
            source.minScore(least.floatValue());
        }
        if (kind.equals(KNN)) {
            source.knnSearch(List.of(nearest(depth.nearest(parts, KNN))));
        } else {
            json.retriever(outer).extractToSearchSourceBuilder(source, false);
        }
    }

    private void deepenQuery(SearchSourceBuilder source, RankingDepth depth) {
        String query = source.query() == null ? "" : Strings.toString(source.query());
        if (RankingDepth.mayRankNeighbours(query)) {
            Object deep = depth.query(json.map(query), "query");
            source.query(json.read(deep, AbstractQueryBuilder::parseTopLevelQuery));
        }
    }

    private KnnSearchBuilder deepened(KnnSearchBuilder search, RankingDepth depth, String path) {
        Map<String, Object> parts = json.map(search);
        if (search.getNumCands() == Math.round(Math.min(Request.DEEPEST, CANDIDATES * search.k()))) {
            parts.remove(NUM_CANDIDATES); // as many as the engine puts in where none are named
        }
        return nearest(depth.nearest(parts, path));
    }

    private KnnSearchBuilder nearest(Object parts) {
        return json.read(parts, parser -> KnnSearchBuilder.fromXContent(parser).build(SIZE));
    }
}
