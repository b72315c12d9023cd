package ibidem.opensearch;

import ibidem.core.FoundGroups;
import ibidem.core.GroupedSearch;
import ibidem.core.InnerSearches;
import ibidem.core.LedgerCache;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.core.Refusal;
import ibidem.core.ResultList;
import ibidem.core.StoredSearch;
import ibidem.core.Verdict;
import ibidem.core.Way;
import ibidem.lucene.GroupSpec;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.search.TotalHits;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.action.search.ShardSearchFailure;
import org.opensearch.common.document.DocumentField;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;

/** Sends the searches that one grouped search is made of. */
class Searches extends Calls implements InnerSearches<SearchResponse, SearchHit, Hits.Place> {
    private static final String BY = "plugin " + GroupingPlugin.version();

    private final Rankings.Deep deep;
    private final SearchRequest request;
    private final InnerRequests inner;
    /** The search as one that groups a window; null where groups are stored. */
    private final GroupedSearch<SearchResponse, SearchHit, Hits.Place> grouped;
    /** The search as one whose groups are stored; null where a window is grouped. */
    private final StoredSearch<SearchHit, Hits.Place> stored;

    private final GroupSpec spec;
    private final Way way;
    private final int shards; // how many are searched; zero where a point in time alone knows
    private ActionListener<SearchResponse> listener;
    private SearchResponse first;
    private TotalHits total;

    Searches(Nodes nodes, Rankings.Deep deep, Way chosen, Task task) {
        super(nodes, task);
        this.deep = deep;
        this.request = deep.request();
        inner = new InnerRequests(request, nodes.allHaveThePlugin(), new InnerHits(nodes.parsers()));
        shards = request.source().pointInTimeBuilder() != null
                ? 0
                : Math.max(1, deep.indexes().stream().mapToInt(nodes::shards).sum());
        way = chosen.unless(partOfWindows());
        Refusal.checkPage(start(), size());
        grouped = way.isWindow()
                ? new GroupedSearch<>(
                        this, way.request(), start(), request.source().size())
                : null;
        stored = way.isWindow() ? null : new StoredSearch<>(this, way.request());
        spec = stored == null ? null : spec(stored.members());
    }

    private int start() {
        return Math.max(0, request.source().from());
    }

    private int size() {
        return GroupedSearch.size(request.source().size());
    }

    private GroupSpec spec(int members) {
        String field = way.by().equals(Way.CONTENT) ? PackedField.CONTENT : PackedField.GROUP;
        return shards == 1
                ? spec(field, start(), size(), members)
                : spec(field, 0, Math.max(1, start() + size()), members);
    }

    private GroupSpec spec(String field, int from, int groups, int members) {
        int most = Math.min(members, Math.max(1, deepest() / Math.max(1, groups * Math.max(1, shards))));
        return new GroupSpec(field, from, groups, most, request.source().trackScores(), shards);
    }

    private String partOfWindows() {
        String part = inner.partOfWindows();
        return part.isEmpty() && shards != 1 && start() + size() > Engine.mostGroups(shards, deepest())
                ? shards == 0 ? "a point in time" : "a page so deep of several shards"
                : part;
    }

    /** Returns the request for the first window. */
    SearchRequest firstWindow() {
        return stored != null ? inner.pass(spec, null) : inner.window(grouped.depth());
    }

    /** Goes on with the answer to the first window, and gives the whole answer to a listener. */
    void goOn(ActionListener<SearchResponse> next, SearchResponse response) {
        Engine.keep(response);
        first = response;
        listener = ActionListener.runAfter(next, () -> Engine.release(response));
        try {
            checkWhole(response);
            if (stored == null) {
                total = response.getHits().getTotalHits();
                grouped.goOn(response);
                return;
            }
            FoundGroups<SearchHit> found = Engine.found(response, spec, start(), size());
            total = new TotalHits(found.matches(), TotalHits.Relation.EQUAL_TO);
            stored.goOn(found);
        } catch (Exception e) {
            listener.onFailure(e);
        }
    }

    @Override
    public int deepest() {
        return Math.min(deep.ranked(), nodes.deepest(deep.indexes()));
    }

    @Override
    public boolean byScoreAlone() {
        return inner.byScoreAlone();
    }

    @Override
    public boolean isRescored() {
        return inner.isRescored();
    }

    @Override
    public void overrides(Stream<String> indexesOfHits, Consumer<List<Verdict>> next) {
        Set<String> names = deep.ledgers();
        if (deep.indexes().isEmpty()) {
            names = nodes.ledgers(request.indices(), indexesOfHits.collect(Collectors.toCollection(TreeSet::new)));
        }
        LedgerCache.Reader reader = (slice, batches) -> records(slice, batches, error -> listener.onFailure(error));
        nodes.ledgers().overrides().get(names, nodes.caller(), reader, next);
    }

    @Override
    public void window(Depth depth, Consumer<SearchResponse> next) {
        sendWhole(later(inner.window(depth)), next);
    }

    /** Returns a search that ranks, and is sent after the first window, as it is to be sent. */
    SearchRequest later(SearchRequest search) {
        return search;
    }

    @Override
    public void documents(Set<Name> names, Consumer<SearchResponse> next) {
        sendWhole(inner.page(names), next);
    }

    @Override
    public void signatures(List<Name> names, Consumer<List<byte[]>> next) {
        Set<String> beside = deep.beside();
        if (deep.indexes().isEmpty()) {
            beside = nodes.beside(
                    request.indices(), names.stream().map(Name::index).collect(Collectors.toSet()));
        }
        if (beside.isEmpty()) {
            next.accept(List.of());
            return;
        }
        ActionListener<SearchResponse> values =
                onAnswer(response -> compute(response, () -> next.accept(values(response))));
        send(InnerRequests.signatures(beside, names), orElse(values, () -> next.accept(List.of())));
    }

    private List<byte[]> values(SearchResponse response) {
        return Arrays.stream(hits(response))
                .map(hit -> PackedField.read(value(hit, PackedField.NAME)))
                .filter(Objects::nonNull)
                .toList();
    }

    @Override
    public void members(Set<String> groups, Consumer<FoundGroups<SearchHit>> next) {
        GroupSpec whole = spec(spec.field(), 0, groups.size(), stored.members());
        sendWhole(inner.pass(whole, groups), response -> next.accept(Engine.found(response, whole, 0, groups.size())));
    }

    @Override
    public void compute(SearchResponse response, Runnable work) {
        Engine.keep(response);
        nodes.threads()
                .executor(ThreadPool.Names.SEARCH)
                .execute(Engine.releaseAfter(response, onAnswer(unused -> {}), work));
    }

    @Override
    public void take(long bytes) {
        nodes.breaker().addEstimateBytesAndMaybeBreak(bytes, "ibidem window");
    }

    @Override
    public void free(long bytes) {
        nodes.breaker().addWithoutBreaking(-bytes);
    }

    @Override
    public SearchHit[] hits(SearchResponse response) {
        return response.getHits().getHits();
    }

    @Override
    public long total(SearchResponse response) {
        return response.getHits().getTotalHits().value();
    }

    @Override
    public float highest(SearchResponse response) {
        return response.getHits().getMaxScore();
    }

    @Override
    public boolean isTimedOut(SearchResponse response) {
        return response.isTimedOut();
    }

    @Override
    public String index(SearchHit hit) {
        return hit.getIndex();
    }

    @Override
    public String id(SearchHit hit) {
        return hit.getId();
    }

    @Override
    public float score(SearchHit hit) {
        return hit.getScore();
    }

    @Override
    public Object value(SearchHit hit, String field) {
        DocumentField values = hit.field(field);
        return values == null ? null : values.getValue();
    }

    @Override
    public Hits.Place place(SearchHit hit) {
        return new Hits.Place(hit.docId(), hit.getScore(), hit.getSortValues(), hit.getShard());
    }

    @Override
    public void answer(ResultList<SearchHit, Hits.Place> list) {
        list.account().putAll(notes());
        way.account().forEach(list.account()::putIfAbsent);
        list.account().put("grouper", BY);
        SearchHits hits = new Hits(list, request.source(), stored != null).list(total);
        listener = ActionListener.runAfter(listener, () -> Engine.release(hits));
        if (stored == null && inner.showsOtherDocuments()) {
            sendWhole(later(inner.otherDocuments()), others -> Answer.send(listener, hits, first, others, list));
        } else {
            Answer.send(listener, hits, first, first, list);
        }
    }

    /** Returns what the account says of the ranking. */
    private Map<String, Object> notes() {
        Map<String, Object> notes = new LinkedHashMap<>();
        if (!deep.adjusted().isEmpty()) {
            notes.put("adjusted", deep.adjusted());
        }
        String fields = Engine.nearestFields(request.source());
        if (!fields.isEmpty() && total.value() == 0) {
            notes.put("remedy", "check whether documents have vectors in " + fields + ", and pass the filters of knn");
        }
        return notes;
    }

    /** Sends a search whose answer lacks no part of the index. */
    private void sendWhole(SearchRequest search, Consumer<SearchResponse> next) {
        send(search, onAnswer(response -> {
            checkWhole(response);
            next.accept(response);
        }));
    }

    /** Refuses an answer that lacks a part of the index: a shard that no node holds is no failure to the server. */
    private static void checkWhole(SearchResponse response) {
        if (response.getShardFailures().length > 0) {
            ShardSearchFailure failure = response.getShardFailures()[0];
            throw new OpenSearchStatusException("a shard failed", failure.status(), failure.getCause());
        }
        int answered = response.getSuccessfulShards();
        int all = response.getTotalShards();
        if (answered < all) {
            throw new OpenSearchStatusException(
                    "{} of {} shards answered", RestStatus.SERVICE_UNAVAILABLE, answered, all);
        }
    }

    /** Goes on in the caller's context; a failure there fails the search. */
    private <T> ActionListener<T> onAnswer(Consumer<T> next) {
        return inContext(ActionListener.wrap(
                answer -> {
                    try {
                        next.accept(answer);
                    } catch (Exception e) {
                        listener.onFailure(e);
                    }
                },
                error -> listener.onFailure(error)));
    }
}
