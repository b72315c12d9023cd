package ibidem.opensearch;

import ibidem.core.RankingDepth;
import ibidem.core.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.index.query.BoolQueryBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.fetch.StoredFieldsContext;

/** Makes the ranking of a search as deep as the window that is grouped: one by neighbours names how many it finds. */
final class Rankings {
    /** Queries that hold no others. */
    private static final Set<String> ALONE =
            Set.of("exists", "ids", "match", "match_all", "match_phrase", "multi_match", "range", "term", "terms");

    /** A search that ranks as many hits as are grouped. */
    record Deep(
            SearchRequest request,
            List<Map<String, Object>> adjusted, // what was adjusted in it, as the account shows it
            int ranked, // the most hits that it ranks
            List<String> indexes, // that it searches; empty if there are none, or if only its hits name them
            Set<String> ledgers, // the indexes of records next to them
            Set<String> beside) {} // the indexes that hold their signatures

    private final Nodes nodes;
    private final Json json;

    Rankings(Nodes nodes) {
        this.nodes = nodes;
        json = new Json(nodes.parsers());
    }

    /**
     * Makes a search deep enough, or refuses a part that cannot be combined with groups.
     *
     * @param window how many hits are grouped at least
     */
    Deep deepen(SearchRequest request, int window) {
        check(request);
        SearchSourceBuilder search = request.source();
        SearchSourceBuilder source = search.shallowCopy();
        RankingDepth depth = RankingDepth.of(window, search.size());
        int ranked = Engine.deepenRetriever(search, source, depth, json);
        deepenQuery(source, depth);
        Engine.deepenNearest(source, depth, json);
        SearchRequest deep = Engine.rankAs(request, new SearchRequest(request).source(source));
        check(deep); // with the parts of a retriever that ranks alone
        List<String> indexes = nodes.indexes(request);
        String[] names = request.indices();
        return new Deep(
                deep, depth.adjusted(), ranked, indexes, nodes.ledgers(names, indexes), nodes.beside(names, indexes));
    }

    private static void check(SearchRequest request) {
        SearchSourceBuilder source = request.source();
        StoredFieldsContext fields = source.storedFields();
        Refusal.SCROLL.refuseIf(request.scroll() != null);
        Refusal.OTHER_CLUSTERS.refuseIf(Refusal.nameOtherClusters(request.indices()));
        Refusal.COLLAPSE.refuseIf(source.collapse() != null);
        Refusal.SEARCH_AFTER.refuseIf(source.searchAfter() != null);
        Refusal.SLICE.refuseIf(source.slice() != null);
        Engine.refuse(request);
        Refusal.TERMINATE_AFTER.refuseIf(source.terminateAfter() > 0);
        Refusal.EXPLAINED_RESCORE.refuseIf(source.rescores() != null && Boolean.TRUE.equals(source.explain()));
        Refusal.NO_FIELDS.refuseIf(fields != null && !fields.fetchFields());
    }

    private void deepenQuery(SearchSourceBuilder source, RankingDepth depth) {
        String query = isPlain(source.query()) ? "" : json.text(source.query());
        if (RankingDepth.mayRankNeighbours(query)) {
            source.query(json.query(depth.query(json.map(query), "query")));
        }
    }

    /** Returns whether a query surely ranks no neighbours. */
    private static boolean isPlain(QueryBuilder query) {
        if (query instanceof BoolQueryBuilder bool) {
            return Stream.of(bool.must(), bool.should(), bool.filter(), bool.mustNot())
                    .allMatch(clauses -> clauses.stream().allMatch(Rankings::isPlain));
        }
        return query == null || ALONE.contains(query.getName());
    }
}
