package ibidem.opensearch;

import ibidem.core.Depth;
import ibidem.core.FoundGroups;
import ibidem.core.GroupedSearch;
import ibidem.core.InnerSearches;
import ibidem.core.LedgerCache;
import ibidem.core.Ledgers;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.core.Refusal;
import ibidem.core.Request;
import ibidem.core.ResultList;
import ibidem.core.StoredSearch;
import ibidem.core.Way;
import ibidem.lucene.GroupSpec;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.lucene.search.TotalHits;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;

/** Sends the searches that one grouped search is made of. */
class Searches extends Calls implements InnerSearches<SearchResponse, SearchHit, Place> {
    private static final String BY = "plugin " + IbidemPlugin.version();

    private final DeepSearch deep;
    private final SearchRequest request;
    private final InnerRequests inner;
    /** The search as one that groups a window; null where groups are stored. */
    private final GroupedSearch<SearchResponse, SearchHit, Place> grouped;
    /** The search as one whose groups are stored; null where a window is grouped. */
    private final StoredSearch<SearchResponse, SearchHit, Place> stored;

    private final GroupSpec spec;
    private final Way way;
    /** How many are searched; zero where a point in time alone knows. */
    private final int shards;

    private ActionListener<SearchResponse> listener;
    private SearchResponse first;
    private TotalHits total;

    Searches(Nodes nodes, Ledgers ledgers, DeepSearch deep, Way chosen, Task task) {
        super(nodes, task);
        this.deep = deep;
        this.request = deep.request();
        inner = new InnerRequests(request, nodes.allHaveThePlugin(), new InnerHits(nodes.parsers()));
        shards = request.source().pointInTimeBuilder() != null
                ? 0
                : Math.max(1, indexes().stream().mapToInt(nodes::shards).sum());
        way = chosen.unless(partOfWindows());
        Request dedupe = way.request();
        GroupedSearch.Node node = new GroupedSearch.Node(ledgers, nodes.memory());
        int from = request.source().from();
        int size = request.source().size();
        Refusal.checkPage(Math.max(0, from), GroupedSearch.size(size));
        grouped = way.isWindow() ? new GroupedSearch<>(node, this, new Responses(), dedupe, from, size) : null;
        stored = !way.isWindow() ? new StoredSearch<>(node, this, new Responses(), dedupe) : null;
        spec = stored == null ? null : spec(stored.members());
    }

    private GroupSpec spec(int members) {
        int start = Math.max(0, request.source().from());
        int size = GroupedSearch.size(request.source().size());
        String field = way.by().equals(Way.CONTENT) ? PackedField.CONTENT : PackedField.GROUP;
        return shards == 1 ? spec(field, start, size, members) : spec(field, 0, Math.max(1, start + size), members);
    }

    private GroupSpec spec(String field, int from, int groups, int members) {
        int most = Math.min(members, Math.max(1, deepest() / Math.max(1, groups * Math.max(1, shards))));
        return new GroupSpec(field, from, groups, most, request.source().trackScores(), shards);
    }

    private String partOfWindows() {
        int end = Math.max(0, request.source().from())
                + GroupedSearch.size(request.source().size());
        String part = inner.partOfWindows();
        return part.isEmpty() && shards != 1 && end > Engine.mostGroups(shards, deepest())
                ? shards == 0 ? "a point in time" : "a page so deep of several shards"
                : part;
    }

    /** Returns the request for the first window. */
    SearchRequest firstWindow() {
        if (stored != null) {
            return inner.pass(spec, null);
        }
        return inner.window(grouped.depth());
    }

    /** Goes on with the answer to the first window, and gives the whole answer to a listener. */
    void goOn(ActionListener<SearchResponse> next, SearchResponse response) {
        Engine.keep(response);
        first = response;
        listener = ActionListener.runAfter(next, () -> Engine.release(response));
        try {
            Completeness.check(response);
            if (stored == null) {
                total = response.getHits().getTotalHits();
                grouped.goOn(response);
                return;
            }
            FoundGroups<SearchHit> found = Engine.found(
                    response,
                    spec,
                    Math.max(0, request.source().from()),
                    GroupedSearch.size(request.source().size()));
            total = new TotalHits(found.matches(), TotalHits.Relation.EQUAL_TO);
            stored.goOn(found);
        } catch (Exception e) {
            listener.onFailure(e);
        }
    }

    @Override
    public List<String> indexes() {
        return deep.indexes();
    }

    @Override
    public int deepest() {
        return Math.min(deep.ranked(), nodes.deepest(indexes()));
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
    public String caller() {
        return nodes.caller();
    }

    @Override
    public Set<String> ledgers(Collection<String> names) {
        return indexes().isEmpty() ? nodes.ledgers(request.indices(), names) : deep.ledgers();
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
        if (indexes().isEmpty()) {
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

    private static List<byte[]> values(SearchResponse response) {
        Responses responses = new Responses();
        return Arrays.stream(responses.hits(response))
                .map(hit -> PackedField.read(responses.value(hit, PackedField.NAME)))
                .filter(Objects::nonNull)
                .toList();
    }

    @Override
    public void members(Set<String> groups, Consumer<FoundGroups<SearchHit>> next) {
        GroupSpec whole = spec(spec.field(), 0, groups.size(), stored.members());
        sendWhole(inner.pass(whole, groups), response -> next.accept(Engine.found(response, whole, 0, groups.size())));
    }

    @Override
    public void records(LedgerCache.Slice slice, Consumer<LedgerCache.Batch> next) {
        records(slice, next, error -> listener.onFailure(error));
    }

    @Override
    public void compute(SearchResponse response, Runnable work) {
        Engine.keep(response);
        nodes.threads()
                .executor(ThreadPool.Names.SEARCH)
                .execute(Engine.releaseAfter(response, onAnswer(unused -> {}), work));
    }

    @Override
    public void answer(ResultList<SearchHit, Place> list) {
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
            Completeness.check(response);
            next.accept(response);
        }));
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
