package ibidem.elasticsearch;

import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.rest.RestStatus;

/** Refuses an answer that lacks a part of the index: a shard that no node holds is no failure to the server. */
final class Whole {
    private Whole() {}

    static void check(SearchResponse found) {
        if (found.getShardFailures().length > 0) {
            throw new ElasticsearchStatusException(
                    "a shard failed", found.getShardFailures()[0].status(), found.getShardFailures()[0].getCause());
        }
        if (found.getSuccessfulShards() < found.getTotalShards()) {
            throw new ElasticsearchStatusException(
                    "{} of {} shards answered",
                    RestStatus.SERVICE_UNAVAILABLE,
                    found.getSuccessfulShards(),
                    found.getTotalShards());
        }
    }
}
