package ibidem.opensearch;

import ibidem.core.Verdict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opensearch.ExceptionsHelper;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.action.support.IndicesOptions;
import org.opensearch.common.cache.Cache;
import org.opensearch.common.cache.CacheBuilder;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.search.SearchHit;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Cache of manual decisions beside indexes: read as the caller, and kept for that caller for a few seconds. */
final class OverrideCache {
    private static final long SECONDS = 5;
    private static final int CALLERS = 1_000;
    private static final int SLICE = 1_000;
    private static final String[] IDENTITIES = {
        "_opendistro_security_user", "_opendistro_security_user_info", "_opendistro_security_injected_user"
    };

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
        StringBuilder caller = new StringBuilder();
        for (String name : IDENTITIES) {
            Object identity = nodes.threads().getThreadContext().getTransient(name);
            caller.append(Objects.toString(identity, "")).append('\n');
        }
        return caller.toString();
    }

    private void read(
            Key key, Object[] after, List<Verdict> found, Sender sender, ActionListener<List<Verdict>> listener) {
        SearchSourceBuilder source =
                new SearchSourceBuilder().size(SLICE).sort("key").trackTotalHits(false);
        if (after != null) {
            source.searchAfter(after);
        }
        SearchRequest request = new SearchRequest(key.ledgers.toArray(String[]::new), source);
        request.indicesOptions(IndicesOptions.lenientExpandOpen()).pipeline("_none");
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
