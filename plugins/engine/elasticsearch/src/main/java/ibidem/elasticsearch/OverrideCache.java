package ibidem.elasticsearch;

import ibidem.core.Verdict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.cache.Cache;
import org.elasticsearch.common.cache.CacheBuilder;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.SearchSourceBuilder;

/** Cache of manual decisions beside indexes: read as the caller, and kept for that caller for a few seconds. */
final class OverrideCache {
    private static final long SECONDS = 5;
    private static final int CALLERS = 1_000;
    private static final int SLICE = 1_000;
    private static final String IDENTITY = "_xpack_security_authentication";

    private record Key(Collection<String> ledgers, String caller) {}

    private final Cache<Key, List<Verdict>> kept = CacheBuilder.<Key, List<Verdict>>builder()
            .setMaximumWeight(CALLERS)
            .setExpireAfterWrite(TimeValue.timeValueSeconds(SECONDS))
            .build();

    /** Sends a search as the caller. */
    interface Sender {
        void send(SearchRequest request, ActionListener<SearchResponse> listener);
    }

    /**
     * Gives manual decisions.
     *
     * @param ledgers the indexes that hold them
     * @param nodes whose thread context tells the caller
     * @param sender sends a search as that caller
     * @param listener gets them; those that the caller may not read are left out
     */
    void of(Collection<String> ledgers, Nodes nodes, Sender sender, ActionListener<List<Verdict>> listener) {
        if (ledgers.isEmpty()) {
            listener.onResponse(List.of());
            return;
        }
        Key key = new Key(ledgers, caller(nodes));
        List<Verdict> known = kept.get(key);
        if (known != null) {
            listener.onResponse(known);
            return;
        }
        read(key, null, new ArrayList<>(), sender, listener);
    }

    private static String caller(Nodes nodes) {
        return Objects.toString(nodes.threads().getThreadContext().getHeader(IDENTITY), "");
    }

    private void read(
            Key key, Object[] after, List<Verdict> found, Sender sender, ActionListener<List<Verdict>> listener) {
        SearchSourceBuilder source =
                new SearchSourceBuilder().size(SLICE).sort("key").trackTotalHits(false);
        if (after != null) {
            source.searchAfter(after);
        }
        SearchRequest request = new SearchRequest(key.ledgers.toArray(String[]::new), source);
        request.indicesOptions(IndicesOptions.lenientExpandOpen());
        sender.send(
                request,
                ActionListener.wrap(
                        response -> {
                            SearchHit[] hits = response.getHits().getHits();
                            for (SearchHit hit : hits) {
                                add(hit, found);
                            }
                            if (hits.length == SLICE) {
                                read(key, hits[SLICE - 1].getSortValues(), found, sender, listener);
                            } else {
                                kept.put(key, found);
                                listener.onResponse(found);
                            }
                        },
                        error -> {
                            RestStatus status = ExceptionsHelper.status(error);
                            if (status == RestStatus.FORBIDDEN || status == RestStatus.NOT_FOUND) {
                                listener.onResponse(found);
                            } else {
                                listener.onFailure(error);
                            }
                        }));
    }

    private static void add(SearchHit hit, List<Verdict> found) {
        Map<String, Object> source = hit.getSourceAsMap();
        if (source != null && source.get("entry") instanceof Map<?, ?> entry) {
            @SuppressWarnings("unchecked")
            Verdict verdict = Verdict.of((Map<String, ?>) entry);
            if (verdict != null) {
                found.add(verdict);
            }
        }
    }
}
