package ibidem.elasticsearch;

import java.util.Iterator;
import java.util.Map;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.xcontent.ToXContent;

/** A search's response with the account in {@code dedupe} at the top: there is no {@code ext} in responses. */
final class Answer extends SearchResponse {
    private static final String ACCOUNT = "dedupe";

    private final Map<String, Object> account;

    /**
     * @param hits the list to show
     * @param first the answer to the first window, with aggregations and the like
     * @param account counts that describe the answer
     * @param tookMillis since the request came
     */
    Answer(SearchHits hits, SearchResponse first, Map<String, Object> account, long tookMillis) {
        super(
                hits,
                first.getAggregations(),
                first.getSuggest(),
                first.isTimedOut(),
                first.isTerminatedEarly(),
                first.getSearchProfileResults(),
                first.getNumReducePhases(),
                null,
                first.getTotalShards(),
                first.getSuccessfulShards(),
                first.getSkippedShards(),
                tookMillis,
                first.getShardFailures(),
                first.getClusters(),
                first.pointInTimeId(),
                null,
                null);
        this.account = account;
    }

    @Override
    public Iterator<? extends ToXContent> innerToXContentChunked(ToXContent.Params params) {
        return Iterators.concat(super.innerToXContentChunked(params), Iterators.single((ToXContent)
                (builder, unused) -> builder.field(ACCOUNT, account)));
    }

    @Override
    public Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params) {
        return Iterators.concat(
                Iterators.single((ToXContent) (builder, unused) -> builder.startObject()),
                innerToXContentChunked(params),
                Iterators.single((ToXContent) (builder, unused) -> builder.endObject()));
    }
}
