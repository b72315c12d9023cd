package ibidem.elasticsearch;

import ibidem.core.ResultList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.aggregations.InternalAggregation;
import org.elasticsearch.search.aggregations.InternalAggregations;
import org.elasticsearch.xcontent.ToXContent;

/** A search's response with the account in {@code dedupe} at the top: there is no {@code ext} in responses. */
final class Answer extends SearchResponse {
    private static final String ACCOUNT = "dedupe";

    private final Map<String, Object> account;

    private Answer(SearchHits hits, SearchResponse first, SearchResponse others, ResultList<?, ?> list) {
        super(
                hits,
                aggregations(others),
                others.getSuggest(),
                first.isTimedOut(),
                first.isTerminatedEarly(),
                first.getSearchProfileResults(),
                first.getNumReducePhases(),
                null,
                first.getTotalShards(),
                first.getSuccessfulShards(),
                first.getSkippedShards(),
                list.tookMillis(),
                first.getShardFailures(),
                first.getClusters(),
                first.pointInTimeId(),
                null,
                null);
        account = list.account();
    }

    /** Returns the aggregations that the caller asked for. */
    private static InternalAggregations aggregations(SearchResponse response) {
        if (response.getAggregations() == null) {
            return null;
        }
        List<InternalAggregation> all =
                new ArrayList<>(response.getAggregations().asList());
        all.removeIf(each -> each instanceof InternalGroups);
        return all.isEmpty() ? null : InternalAggregations.from(all);
    }

    /** Sends a response to a listener. */
    static void send(
            ActionListener<SearchResponse> listener,
            SearchHits hits,
            SearchResponse first,
            SearchResponse others,
            ResultList<?, ?> list) {
        ActionListener.respondAndRelease(listener, new Answer(hits, first, others, list));
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
