package ibidem.opensearch;

import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.rest.RestStatus;

/** Refuses an answer that lacks a part of the index: a shard that no node holds is no failure to the server. */
final class Completeness {
    private Completeness() {}

    static void check(SearchResponse response) {
        if (response.getShardFailures().length > 0) {
            throw new OpenSearchStatusException(
                    "a shard failed",
                    response.getShardFailures()[0].status(),
                    response.getShardFailures()[0].getCause());
        }
        if (response.getSuccessfulShards() < response.getTotalShards()) {
            throw new OpenSearchStatusException(
                    "{} of {} shards answered",
                    RestStatus.SERVICE_UNAVAILABLE,
                    response.getSuccessfulShards(),
                    response.getTotalShards());
        }
    }
}
