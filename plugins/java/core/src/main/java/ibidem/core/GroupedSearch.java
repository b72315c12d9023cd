package ibidem.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One search under way: its window, deeper where the page needs it, the groups, and the documents that are shown. */
public final class GroupedSearch<R, H, P> {
    private static final int SIZE = 10;

    private final InnerSearches<R, H, P> searches;
    private final Request request;
    private final Reading reading;
    private final long startNanos = System.nanoTime();

    private InnerSearches.Depth depth;
    private R first;
    private float highest; // the highest score of all hits

    /**
     * @param from the first group to show; negative for the default
     * @param size how many; negative for the default
     */
    public GroupedSearch(InnerSearches<R, H, P> searches, Request request, int from, int size) {
        this.searches = searches;
        this.request = request;
        int groups = size(size);
        int deepest = searches.isRescored() ? Math.min(request.window(), searches.deepest()) : searches.deepest();
        reading = new Reading(request, groups == 0 ? 0 : Math.max(0, from), groups, deepest);
        depth = depth(false);
    }

    /** Returns how many groups a page has; those of a request that names no number if that is negative. */
    public static int size(int size) {
        return size < 0 ? SIZE : size;
    }

    /** Returns how deep the first window is. */
    public InnerSearches.Depth depth() {
        return depth;
    }

    /** Goes on with the response to the first window. */
    public void goOn(R response) {
        first = response;
        highest = searches.highest(response);
        handle(response);
    }

    private InnerSearches.Depth depth(boolean inFullOrder) {
        int hits = searches.byScoreAlone() && !inFullOrder ? reading.depthWithEquals() : reading.depth();
        return new InnerSearches.Depth(hits, inFullOrder, first == null);
    }

    private void read(boolean inFullOrder) {
        depth = depth(inFullOrder);
        searches.window(depth, this::handle);
    }

    private void handle(R response) {
        searches.compute(response, () -> handleWindow(searches.hits(response)));
    }

    private void handleWindow(H[] hits) {
        if (cutAmongEquals(hits)) {
            read(true);
            return;
        }
        Rows<P> rows = new Rows<>(searches, List.of(hits), reading.depth(), searches.byScoreAlone());
        List<Name> lacking = rows.lacking();
        if (lacking.isEmpty()) {
            listenToReaders(rows);
            return;
        }
        searches.signatures(lacking, values -> {
            rows.fill(values);
            listenToReaders(rows);
        });
    }

    /** Returns whether unread hits might rank before a read one: all beyond the window have one score. */
    private boolean cutAmongEquals(H[] hits) {
        return searches.byScoreAlone()
                && !depth.inFullOrder()
                && hits.length >= depth.hits()
                && reading.depth() > 0
                && searches.score(hits[hits.length - 1]) == searches.score(hits[reading.depth() - 1]);
    }

    private void listenToReaders(Rows<P> rows) {
        searches.overrides(rows.names.stream().map(Name::index), words -> group(rows, words));
    }

    private void group(Rows<P> rows, List<Verdict> words) {
        long bytes = Request.bytes(rows.packed.length);
        searches.take(bytes);
        Page page;
        try {
            Window window = Window.of(rows, request.policy(), words);
            if (!reading.enough(window)) {
                read(false);
                return;
            }
            page = reading.page(window, request);
        } finally {
            searches.free(bytes);
        }
        Set<Name> names = page.names();
        if (names.isEmpty()) {
            answer(rows, page, Map.of());
            return;
        }
        searches.documents(names, response -> {
            Map<Name, H> documents = new HashMap<>();
            for (H hit : searches.hits(response)) {
                documents.put(new Name(searches.index(hit), searches.id(hit)), hit);
            }
            answer(rows, page, documents);
        });
    }

    private void answer(Rows<P> rows, Page page, Map<Name, H> documents) {
        long tookMillis = (System.nanoTime() - startNanos) / 1_000_000;
        boolean isMissing = !rows.lacking().isEmpty();
        Map<String, Object> account =
                page.account(searches.total(first), !searches.isTimedOut(first), isMissing, tookMillis);
        List<ResultList.Item<H, P>> items = rows.items(page, row -> documents.get(rows.names.get(row)));
        searches.answer(new ResultList<>(items, highest, request.collapse(), account, tookMillis));
    }
}
