package ibidem.elasticsearch;

import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.rest.RestStatus;

/** Refuses an answer that lacks a part of the index: a shard that no node holds is no failure to the server. */
final class Completeness {
    private Completeness() {}

    static void check(SearchResponse response) {
        if (response.getShardFailures().length > 0) {
            throw new ElasticsearchStatusException(
                    "a shard failed",
                    response.getShardFailures()[0].status(),
                    response.getShardFailures()[0].getCause());
        }
        if (response.getSuccessfulShards() < response.getTotalShards()) {
            throw new ElasticsearchStatusException(
                    "{} of {} shards answered",
                    RestStatus.SERVICE_UNAVAILABLE,
                    response.getSuccessfulShards(),
                    response.getTotalShards());
        }
    }
}
