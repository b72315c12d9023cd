package ibidem.elasticsearch;

import ibidem.core.LedgerCache;
import ibidem.core.Ledgers;
import ibidem.core.LongTexts;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.core.Page;
import ibidem.core.Reading;
import ibidem.core.Refusal;
import ibidem.core.Request;
import ibidem.core.ShardPage;
import ibidem.core.Verdict;
import ibidem.core.Window;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.support.ContextPreservingActionListener;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * One search under way: its window, deeper where the page needs it, the groups, and the documents that are shown.
 *
 * <p>Everything is asked for as the caller and under the caller's task, so that rights hold and cancelling reaches it.
 */
final class GroupedSearch {
    private static final String BY = "plugin " + IbidemPlugin.version();

    private final Nodes nodes;
    private final Ledgers ledgers;
    private final SearchRequest request;
    private Request asked;
    private final Task task;
    private final InnerRequests inner;
    private final Reading reading;
    private final List<String> indexes;
    private final Supplier<ThreadContext.StoredContext> caller;
    private final long began = System.nanoTime();

    private ActionListener<SearchResponse> listener;
    private InnerRequests.Depth depth;
    /** Whether the only shard is asked for the page itself. */
    private boolean pageOfShard;

    private final ShardPage.Asked page;
    private SearchResponse first;
    /** The highest score of all hits. */
    private float highest;

    private boolean ids;
    private volatile long held;
    private final LongTexts longs = new LongTexts();

    /**
     * @param nodes what the node knows and does
     * @param ledgers what people keep beside indexes
     * @param request the search as it came
     * @param asked how to group it
     * @param task under which it runs
     */
    GroupedSearch(Nodes nodes, Ledgers ledgers, SearchRequest request, Request asked, Task task) {
        this.nodes = nodes;
        this.ledgers = ledgers;
        this.request = request;
        this.asked = asked;
        this.task = task;
        int size = request.source().size() < 0 ? 10 : request.source().size();
        int from = Math.max(0, request.source().from());
        Refusal.checkPage(from, size);
        indexes = nodes.indexes(request);
        inner = new InnerRequests(request, nodes.allHaveThePlugin());
        reading = new Reading(asked, size == 0 ? 1 : from / size + 1, size, nodes.deepest(indexes));
        caller = nodes.threads().getThreadContext().newRestorableContext(true);
        depth = depth(false);
        page = new ShardPage.Asked(asked.values(), from, size, nodes.deepest(indexes), BY);
        pageOfShard = size > 0
                && asked.oneSearchTells()
                && nodes.haveOneShard(indexes)
                && inner.goesWithPageOfShard()
                && !ledgers.overrides().holds(ledgers(Ledgers.OVERRIDES, Set.copyOf(indexes)), nodes.caller());
    }

    /** Returns the request for the first window. */
    SearchRequest firstWindow() {
        if (!pageOfShard) {
            return inner.window(depth);
        }
        Nodes here = nodes; // else the request would hold this search for as long as a node remembers the request
        return inner.pageOfShard(depth, new PageRescorer(() -> here, page));
    }

    /** Goes on with the answer to the first window, and gives the whole answer to a listener. */
    void goOn(ActionListener<SearchResponse> then, SearchResponse found) {
        listener = ActionListener.runAfter(then, this::release);
        received(found);
    }

    private InnerRequests.Depth depth(boolean inFullOrder) {
        int hits = inner.byScoreAlone() && !inFullOrder ? reading.depthWithEquals() : reading.depth();
        return new InnerRequests.Depth(hits, ids, inFullOrder, first == null);
    }

    private void read(boolean inFullOrder) {
        depth = depth(inFullOrder);
        send(inner.window(depth), then(this::received));
    }

    private void received(SearchResponse found) {
        try {
            Whole.check(found);
            if (first == null) {
                first = found;
                highest = found.getHits().getMaxScore();
                first.mustIncRef();
                listener = ActionListener.runAfter(listener, first::decRef);
            }
            if (pageOfShard && found.getHits().getHits().length > 0) {
                pageOfShard = false;
                receivedPage(found);
                return;
            }
            found.mustIncRef();
            nodes.threads()
                    .executor(ThreadPool.Names.SEARCH)
                    .execute(ActionRunnable.wrapReleasing(then(done -> {}), found::decRef, unused -> {
                        SearchHit[] hits = found.getHits().getHits();
                        if (cutAmongEquals(hits)) {
                            read(true);
                            return;
                        }
                        Ranked ranked = Ranked.of(hits, reading.depth(), inner.byScoreAlone());
                        if (ranked.rows().nameless && !ids) {
                            ids = true;
                            read(false);
                            return;
                        }
                        listenToReaders(ranked);
                    }));
        } catch (Exception e) {
            listener.onFailure(e);
        }
    }

    /** Answers with the page that the shard made, or makes it here where that could not. */
    private void receivedPage(SearchResponse found) {
        SearchHit[] hits = found.getHits().getHits();
        ShardPage.Received received = Stream.of(hits)
                .map(hit -> ShardPage.Received.of(value(hit, ShardPage.TOLD)))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow();
        highest = received.score();
        if (received.outcome() != ShardPage.Outcome.WHOLE) {
            read(received.outcome() == ShardPage.Outcome.EQUALS);
            return;
        }
        List<Shown> shown = received.marks(hits, hit -> value(hit, ShardPage.PLACED)).stream()
                .map(each -> Shown.of(each.hit(), each.mark()))
                .toList();
        if (shown.size() < received.shown()) {
            ids = true; // packed ids may be those of an index that this one was copied from
            read(false);
            return;
        }
        listenToReaders(Set.copyOf(indexes), words -> {
            if (!words.isEmpty()) {
                read(false); // a shard knows no manual decisions
                return;
            }
            checkNotCancelled();
            long tookMillis = (System.nanoTime() - began) / 1_000_000;
            answer(shown, received.account(!found.isTimedOut(), tookMillis), tookMillis);
        });
    }

    private static Object value(SearchHit hit, String name) {
        DocumentField field = hit.field(name);
        return field == null ? null : field.getValue();
    }

    /** Tells whether hits that were not given might stand before one that was: all beyond the window score alike. */
    private boolean cutAmongEquals(SearchHit[] hits) {
        float[] scores = new float[hits.length];
        for (int at = 0; at < hits.length; at++) {
            scores[at] = hits[at].getScore();
        }
        return inner.byScoreAlone() && !depth.inFullOrder() && reading.cutAmongEquals(scores, depth.hits());
    }

    private void listenToReaders(Ranked ranked) {
        Set<String> found = new TreeSet<>(indexes);
        if (found.isEmpty()) {
            ranked.rows().names.forEach(name -> found.add(name.index()));
        }
        if (asked.waiting()) {
            ledgers.presets().of(ledgers(Ledgers.PRESETS, found), nodes.caller(), this::readLedger, presets -> {
                asked = asked.with(presets);
                listenToReaders(ranked, found);
            });
        } else {
            listenToReaders(ranked, found);
        }
    }

    private void listenToReaders(Ranked ranked, Set<String> found) {
        listenToReaders(found, words -> group(ranked, words));
    }

    private void listenToReaders(Set<String> found, Consumer<List<Verdict>> next) {
        ledgers.overrides().of(ledgers(Ledgers.OVERRIDES, found), nodes.caller(), this::readLedger, next);
    }

    private Set<String> ledgers(String kind, Set<String> found) {
        return nodes.ledgers(kind, request.indices(), found);
    }

    private void readLedger(LedgerCache.Slice slice, Consumer<LedgerCache.Found> next) {
        send(
                InnerRequests.ledger(slice),
                caller(ActionListener.wrap(
                        answer -> {
                            SearchHit[] hits = answer.getHits().getHits();
                            Object[] last = hits.length == 0 ? null : hits[hits.length - 1].getSortValues();
                            next.accept(new LedgerCache.Found(
                                    Arrays.stream(hits)
                                            .map(SearchHit::getSourceAsMap)
                                            .toList(),
                                    last));
                        },
                        error -> {
                            RestStatus status = ExceptionsHelper.status(error);
                            if (status == RestStatus.FORBIDDEN || status == RestStatus.NOT_FOUND) {
                                next.accept(new LedgerCache.Found(List.of(), null));
                            } else {
                                listener.onFailure(error);
                            }
                        })));
    }

    private void group(Ranked ranked, List<Verdict> words) {
        long bytes = asked.bytes(ranked.rows().packed.length);
        nodes.breaker().addEstimateBytesAndMaybeBreak(bytes, "ibidem window");
        Page page;
        try {
            Window window = Window.of(ranked.rows().names, ranked.rows().packed, asked.policy(), words, longs);
            if (!longs.missing().isEmpty()) {
                readLong(() -> group(ranked, words));
                return;
            }
            if (!reading.enough(window)) {
                read(false);
                return;
            }
            page = reading.page(window, asked);
        } finally {
            nodes.breaker().addWithoutBreaking(-bytes);
        }
        page.wantLong();
        readLong(() -> fetch(ranked, page));
    }

    /** Counts memory that is kept until the search is answered. */
    private void hold(long bytes) {
        nodes.breaker().addEstimateBytesAndMaybeBreak(bytes, "ibidem long signatures");
        held += bytes;
    }

    private void release() {
        nodes.breaker().addWithoutBreaking(-held);
        held = 0;
    }

    /** Reads the long signatures that are missing, some after the other, and goes on. */
    private void readLong(Runnable next) {
        readLong(List.copyOf(longs.missing()), 0, new HashMap<>(), next);
    }

    private void readLong(List<Name> missing, int at, Map<Name, byte[]> values, Runnable next) {
        if (at >= missing.size()) {
            longs.take(values);
            next.run();
            return;
        }
        int end = Math.min(missing.size(), at + InnerRequests.LONG_AT_ONCE);
        send(inner.longSignatures(missing.subList(at, end)), then(found -> {
            Whole.check(found);
            for (SearchHit hit : found.getHits()) {
                DocumentField field = hit.field(PackedField.LONG);
                byte[] value = PackedField.read(field == null ? null : field.getValue());
                if (value != null) {
                    hold(value.length);
                    values.put(new Name(hit.getIndex(), hit.getId()), value);
                }
            }
            readLong(missing, end, values, next);
        }));
    }

    private void fetch(Ranked ranked, Page page) {
        Set<Name> names = page.names();
        if (names.isEmpty()) {
            answer(ranked, page, Map.of());
            return;
        }
        send(inner.page(names), then(found -> {
            Whole.check(found);
            Map<Name, SearchHit> stored = new HashMap<>();
            for (SearchHit hit : found.getHits()) {
                stored.put(new Name(hit.getIndex(), hit.getId()), hit);
            }
            if (stored.size() < names.size() && !ids) {
                ids = true; // packed ids may be those of an index that this one was copied from
                read(false);
            } else {
                answer(ranked, page, stored);
            }
        }));
    }

    private void answer(Ranked ranked, Page page, Map<Name, SearchHit> stored) {
        long tookMillis = (System.nanoTime() - began) / 1_000_000;
        long matched = first.getHits().getTotalHits().value();
        Map<String, Object> account =
                page.account(new Page.Searched(matched, !first.isTimedOut(), ranked.rows().missing, tookMillis, BY));
        answer(ranked.shown(page, stored), account, tookMillis);
    }

    private void answer(List<Shown> shown, Map<String, Object> account, long tookMillis) {
        SearchHits list =
                new Hits(shown, request.source()).list(first.getHits().getTotalHits(), highest, asked.collapse());
        try {
            ActionListener.respondAndRelease(listener, new Answer(list, first, account, tookMillis));
        } finally {
            list.decRef();
        }
    }

    private void checkNotCancelled() {
        if (task instanceof CancellableTask cancellable && cancellable.isCancelled()) {
            throw new TaskCancelledException("cancelled: " + cancellable.getReasonCancelled());
        }
    }

    /** Sends a search as the caller and under the caller's task. */
    private void send(SearchRequest search, ActionListener<SearchResponse> then) {
        checkNotCancelled();
        if (task != null) {
            search.setParentTask(new TaskId(nodes.cluster().localNode().getId(), task.getId()));
        }
        nodes.client().search(search, then);
    }

    /** Goes on in the caller's context; what fails there fails the search. */
    private <T> ActionListener<T> then(org.elasticsearch.core.CheckedConsumer<T, Exception> next) {
        return caller(ActionListener.wrap(
                answer -> {
                    try {
                        next.accept(answer);
                    } catch (Exception e) {
                        listener.onFailure(e);
                    }
                },
                error -> listener.onFailure(error)));
    }

    private <T> ActionListener<T> caller(ActionListener<T> next) {
        return new ContextPreservingActionListener<>(caller, next);
    }
}
