package ibidem.opensearch;

import ibidem.core.LedgerCache;
import ibidem.core.Ledgers;
import ibidem.core.PackedField;
import ibidem.core.Request;
import ibidem.core.Verdict;
import ibidem.core.Way;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.opensearch.action.search.MultiSearchRequest;
import org.opensearch.action.search.MultiSearchResponse;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.action.ActionListener;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryBuilders;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.tasks.Task;

/**
 * Finds the way that a search takes, by what its indexes say of their groups: the record of settling, and counts of the
 * documents without a settled group. Both are read as the caller, and kept for a few seconds.
 */
final class Ways extends Calls {
    private static final String LEAD = "ibidem.lead";

    private final Rankings.Deep deep;
    private final SearchRequest request;
    private final ActionListener<Way> listener;

    Ways(Nodes nodes, Rankings.Deep deep, Task task, ActionListener<Way> listener) {
        super(nodes, task);
        this.deep = deep;
        request = deep.request();
        this.listener = listener;
    }

    /** Finds the way of a request. */
    void choose(Request dedupe) {
        Set<String> names = deep.ledgers();
        String lack = deep.beside().isEmpty()
                ? Engine.lackOfPass(nodes.cluster().state().nodes())
                : Way.BESIDE;
        String caller = nodes.caller();
        String target = String.join(",", request.indices()) + "\n" + caller;
        Ledgers ledgers = nodes.ledgers();
        Consumer<List<Verdict>> withDecisions =
                words -> ledgers.settlements().get(names, target, this::settlements, states -> {
                    Way.State state = states.size() == 1 ? states.get(0) : Way.State.NONE;
                    listener.onResponse(Way.choose(dedupe, state.with(words.size()), lack));
                });
        ledgers.overrides().get(names, caller, this::records, withDecisions);
    }

    private void records(LedgerCache.Slice slice, Consumer<LedgerCache.Batch> next) {
        records(slice, next, listener::onFailure);
    }

    /** Reads the record of settling, and counts what it does not cover. */
    private void settlements(LedgerCache.Slice slice, Consumer<LedgerCache.Batch> next) {
        records(slice, batch -> {
            List<Map<String, ?>> records = batch.sources().stream()
                    .map(source -> source.get("entry"))
                    .filter(Way::isSettled)
                    .<Map<String, ?>>map(Ways::asRecord)
                    .toList();
            if (records.size() != 1) {
                next.accept(new LedgerCache.Batch(List.of(), null));
                return;
            }
            count(records.get(0), counts -> {
                counts.put("checkpoint", records.get(0));
                next.accept(new LedgerCache.Batch(List.of(Map.of("entry", counts)), null));
            });
        });
    }

    @SuppressWarnings("unchecked") // an object in JSON
    private static Map<String, ?> asRecord(Object entry) {
        return (Map<String, ?>) entry;
    }

    private void count(Map<String, ?> record, Consumer<Map<String, Object>> next) {
        MultiSearchRequest searches = new MultiSearchRequest();
        searches.add(counting(null, null));
        searches.add(counting(QueryBuilders.boolQuery().mustNot(QueryBuilders.existsQuery(PackedField.GROUP)), null));
        searches.add(counting(QueryBuilders.existsQuery(PackedField.CONTENT), null));
        Map<?, ?> done = (Map<?, ?>) record.get("done");
        for (String index : deep.indexes()) {
            int shards = nodes.shards(index);
            for (int shard = 0; shard < shards; shard++) {
                Object last = done.get(index + "/" + shard);
                QueryBuilder newer = QueryBuilders.boolQuery()
                        .filter(QueryBuilders.termQuery(LEAD, true))
                        .filter(QueryBuilders.rangeQuery("_seq_no").gte(last == null ? 0 : last));
                searches.add(counting(newer, index).preference(shards > 1 ? "_shards:" + shard : null));
            }
        }
        searches.setParentTask(parent());
        ActionListener<MultiSearchResponse> counted =
                ActionListener.wrap(response -> next.accept(counts(response)), listener::onFailure);
        nodes.client().multiSearch(searches, inContext(counted));
    }

    private SearchRequest counting(QueryBuilder query, String index) {
        SearchSourceBuilder source = new SearchSourceBuilder().size(0).trackTotalHits(true);
        if (query != null) {
            source.query(query);
        }
        String[] indices = index == null ? request.indices() : new String[] {index};
        return Engine.pastPipelines(new SearchRequest(indices, source).indicesOptions(request.indicesOptions()));
    }

    private static Map<String, Object> counts(MultiSearchResponse response) throws Exception {
        List<Long> totals = new ArrayList<>();
        for (MultiSearchResponse.Item item : response.getResponses()) {
            if (item.isFailure()) {
                throw item.getFailure();
            }
            totals.add(item.getResponse().getHits().getTotalHits().value());
        }
        long unsettled = totals.stream().skip(3).mapToLong(Long::longValue).sum();
        boolean hasContent = totals.get(2) > 0 || totals.get(0) == 0;
        Map<String, Object> counts = new HashMap<>(Map.of("documents", totals.get(0), "ungrouped", totals.get(1)));
        counts.putAll(Map.of("has_content", hasContent, "unsettled", unsettled));
        return counts;
    }
}
