package ibidem.opensearch;

import ibidem.core.RankingDepth;
import ibidem.core.Request;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Makes the ranking of a search as deep as the window that is grouped: a query for neighbours names how many it finds. */
final class Rankings {
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
        String query = search.query() == null ? "" : json.text(search.query());
        if (!RankingDepth.mayRankNeighbours(query)) {
            return new DeepSearch(request, depth.raised(), Request.DEEPEST);
        }
        Object deep = depth.query(json.map(query), "query");
        SearchSourceBuilder source = search.shallowCopy().query(json.query(deep));
        source.searchPipelineSource(search.searchPipelineSource()); // the engine's copy lacks it
        return new DeepSearch(new SearchRequest(request).source(source), depth.raised(), Request.DEEPEST);
    }
}
