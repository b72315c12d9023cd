package ibidem.opensearch;

import ibidem.core.ResultList;
import java.util.List;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.search.SearchHits;
import org.opensearch.search.aggregations.InternalAggregations;
import org.opensearch.search.internal.InternalSearchResponse;
import org.opensearch.search.profile.SearchProfileShardResults;

/** A search's response with the account in {@code ext}. */
final class Answer {
    private Answer() {}

    /** Sends a response to a listener. */
    static void send(
            ActionListener<SearchResponse> listener,
            SearchHits hits,
            SearchResponse first,
            SearchResponse others,
            ResultList<?, ?> list) {
        InternalSearchResponse inside = new InternalSearchResponse(
                hits,
                (InternalAggregations) others.getAggregations(),
                others.getSuggest(),
                first.getProfileResults().isEmpty() ? null : new SearchProfileShardResults(first.getProfileResults()),
                first.isTimedOut(),
                first.isTerminatedEarly(),
                first.getNumReducePhases(),
                List.of(new DedupeExt(list.account())),
                List.of());
        listener.onResponse(new SearchResponse(
                inside,
                null,
                first.getTotalShards(),
                first.getSuccessfulShards(),
                first.getSkippedShards(),
                list.tookMillis(),
                first.getShardFailures(),
                first.getClusters(),
                first.pointInTimeId()));
    }
}
