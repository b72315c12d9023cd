package ibidem.opensearch;

import ibidem.core.RankingDepth;
import ibidem.core.Refusal;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Makes the ranking of a search as deep as the window that is grouped: one by neighbours names how many it finds. */
final class Rankings {
    private final Json json;

    Rankings(NamedXContentRegistry parsers) {
        json = new Json(parsers);
    }

    /**
     * Makes a search deep enough, or refuses a part that cannot be combined with groups.
     *
     * @param window how many hits are grouped at least
     */
    DeepSearch deepen(SearchRequest request, int window) {
        check(request);
        SearchSourceBuilder search = request.source();
        SearchSourceBuilder source = search.shallowCopy();
        RankingDepth depth = RankingDepth.of(window, search.size());
        int ranked = Engine.deepenRetriever(search, source, depth, json);
        deepenQuery(source, depth);
        Engine.deepenNearest(source, depth, json);
        SearchRequest deep = Engine.rankAs(request, new SearchRequest(request).source(source));
        check(deep); // with the parts of a retriever that ranks alone
        return new DeepSearch(deep, depth.raised(), ranked);
    }

    private static void check(SearchRequest request) {
        Refusal refusal = Refusals.of(request);
        if (refusal != null) {
            throw refusal.exception();
        }
    }

    private void deepenQuery(SearchSourceBuilder source, RankingDepth depth) {
        String query = source.query() == null ? "" : json.text(source.query());
        if (RankingDepth.mayRankNeighbours(query)) {
            source.query(json.query(depth.query(json.map(query), "query")));
        }
    }
}
