package ibidem.opensearch;

import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.rest.RestStatus;

/** Refuses an answer that lacks a part of the index: a shard that no node holds is no failure to the server. */
final class Whole {
    private Whole() {}

    static void check(SearchResponse found) {
        if (found.getShardFailures().length > 0) {
            throw new OpenSearchStatusException(
                    "a shard failed", found.getShardFailures()[0].status(), found.getShardFailures()[0].getCause());
        }
        if (found.getSuccessfulShards() < found.getTotalShards()) {
            throw new OpenSearchStatusException(
                    "{} of {} shards answered",
                    RestStatus.SERVICE_UNAVAILABLE,
                    found.getSuccessfulShards(),
                    found.getTotalShards());
        }
    }
}
