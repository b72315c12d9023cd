package ibidem.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * One search under way: its window, deeper where the page needs it, the groups, and the documents that are shown.
 *
 * @param <R> the engine's responses
 * @param <H> their hits
 * @param <P> a hit's place in the ranking
 */
public final class GroupedSearch<R, H, P> {
    private static final int SIZE = 10;

    /**
     * The node that coordinates.
     *
     * @param ledgers records next to indexes
     * @param memory counts that of windows
     */
    public record Node(Ledgers ledgers, Memory memory) {}

    private final Node node;
    private final InnerSearches<R, H, P> searches;
    private final ResponseReader<R, H, P> responses;
    private final List<String> indexes;
    private final Reading reading;
    private final long startNanos = System.nanoTime();

    private final Request request;
    private Depth depth;
    private R first;
    /** The highest score of all hits. */
    private float highest;

    /**
     * @param node services of the node
     * @param searches sends the inner searches
     * @param responses reads their responses
     * @param request how to group
     * @param from the first group to show; negative for the default
     * @param size how many; negative for the default
     */
    public GroupedSearch(
            Node node,
            InnerSearches<R, H, P> searches,
            ResponseReader<R, H, P> responses,
            Request request,
            int from,
            int size) {
        this.node = node;
        this.searches = searches;
        this.responses = responses;
        this.request = request;
        int start = Math.max(0, from);
        int groups = size(size);
        indexes = searches.indexes();
        int deepest = searches.isRescored() ? Math.min(request.window(), searches.deepest()) : searches.deepest();
        reading = new Reading(request, groups == 0 ? 0 : start, groups, deepest);
        depth = depth(false);
    }

    /** Returns how many groups a page has; those of a request that names no number if that is negative. */
    public static int size(int size) {
        return size < 0 ? SIZE : size;
    }

    /** Returns how deep the first window is. */
    public Depth depth() {
        return depth;
    }

    /** Goes on with the response to the first window. */
    public void goOn(R response) {
        first = response;
        highest = responses.highest(response);
        handle(response);
    }

    private Depth depth(boolean inFullOrder) {
        int hits = searches.byScoreAlone() && !inFullOrder ? reading.depthWithEquals() : reading.depth();
        return new Depth(hits, inFullOrder, first == null);
    }

    private void read(boolean inFullOrder) {
        depth = depth(inFullOrder);
        searches.window(depth, this::handle);
    }

    private void handle(R response) {
        searches.compute(response, () -> handleWindow(responses.hits(response)));
    }

    private void handleWindow(H[] hits) {
        if (cutAmongEquals(hits)) {
            read(true);
            return;
        }
        Ranking<P> ranking = Ranking.of(responses, hits, reading.depth(), searches.byScoreAlone());
        List<Name> lacking = ranking.rows().lacking();
        if (lacking.isEmpty()) {
            listenToReaders(ranking);
            return;
        }
        searches.signatures(lacking, values -> {
            ranking.rows().fill(values);
            listenToReaders(ranking);
        });
    }

    /** Returns whether unread hits might rank before a read one: all beyond the window have one score. */
    private boolean cutAmongEquals(H[] hits) {
        float[] scores = new float[hits.length];
        for (int at = 0; at < hits.length; at++) {
            scores[at] = responses.score(hits[at]);
        }
        return searches.byScoreAlone() && !depth.inFullOrder() && reading.cutAmongEquals(scores, depth.hits());
    }

    private void listenToReaders(Ranking<P> ranking) {
        Set<String> names = new TreeSet<>(indexes);
        if (names.isEmpty()) {
            ranking.rows().names.forEach(name -> names.add(name.index()));
        }
        listenToReaders(names, words -> group(ranking, words));
    }

    private void listenToReaders(Set<String> names, Consumer<List<Verdict>> next) {
        Set<String> ledgers = searches.ledgers(names);
        node.ledgers().overrides().get(ledgers, searches.caller(), searches::records, next);
    }

    private void group(Ranking<P> ranking, List<Verdict> words) {
        long bytes = request.bytes(ranking.rows().packed.length);
        node.memory().take(bytes, Memory.WINDOW);
        Page page;
        try {
            Window window = Window.of(ranking.rows().names, ranking.rows().packed, request.policy(), words);
            if (!reading.enough(window)) {
                read(false);
                return;
            }
            page = reading.page(window, request);
        } finally {
            node.memory().free(bytes);
        }
        fetch(ranking, page);
    }

    private Name name(H hit) {
        return new Name(responses.index(hit), responses.id(hit));
    }

    private void fetch(Ranking<P> ranking, Page page) {
        Set<Name> names = page.names();
        if (names.isEmpty()) {
            answer(ranking, page, Map.of());
            return;
        }
        searches.documents(names, response -> {
            Map<Name, H> documents = new HashMap<>();
            for (H hit : responses.hits(response)) {
                documents.put(name(hit), hit);
            }
            answer(ranking, page, documents);
        });
    }

    private void answer(Ranking<P> ranking, Page page, Map<Name, H> documents) {
        long tookMillis = tookMillis();
        Map<String, Object> account = page.account(new Page.Outcome(
                responses.total(first),
                !responses.isTimedOut(first),
                ranking.rows().missing(),
                tookMillis));
        answer(ranking.items(page, documents), account, tookMillis);
    }

    private void answer(List<Item<H, P>> items, Map<String, Object> account, long tookMillis) {
        searches.answer(new ResultList<>(items, highest, request.collapse(), account, tookMillis));
    }

    private long tookMillis() {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }
}
