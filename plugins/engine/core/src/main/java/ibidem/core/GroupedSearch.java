package ibidem.core;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One search under way: its window, deeper where the page needs it, the groups, and the documents that are shown.
 *
 * @param <R> the engine's responses
 * @param <H> their hits
 * @param <P> what is kept of a hit's place in the ranking
 */
public final class GroupedSearch<R, H, P> {
    /** Documents in a request for long signatures: those of a book take some 100 KB. */
    private static final int LONG_AT_ONCE = 200;

    private static final int SIZE = 10;

    /**
     * The node that coordinates.
     *
     * @param ledgers records next to indexes
     * @param memory counts that of windows and long signatures
     * @param by who groups
     */
    public record Node(Ledgers ledgers, Memory memory, String by) {}

    private final Node node;
    private final InnerSearches<R, H, P> searches;
    private final ResponseReader<R, H, P> responses;
    private final List<String> indexes;
    private final Reading reading;
    private final ShardPage.Asked page;
    private final long began = System.nanoTime();
    private final LongTexts longs = new LongTexts();

    private Request asked;
    private Depth depth;
    /** Whether the only shard is asked for the page itself. */
    private boolean pageOfShard;

    private R first;
    /** The highest score of all hits. */
    private float highest;

    private boolean ids;
    private volatile long held;

    /**
     * @param node what it does it with
     * @param searches sends what it is made of
     * @param responses reads what comes back
     * @param asked how to group
     * @param from the first group to show; negative where nothing is said of it
     * @param size how many; negative where nothing is said of it
     */
    public GroupedSearch(
            Node node,
            InnerSearches<R, H, P> searches,
            ResponseReader<R, H, P> responses,
            Request asked,
            int from,
            int size) {
        this.node = node;
        this.searches = searches;
        this.responses = responses;
        this.asked = asked;
        int start = Math.max(0, from);
        int groups = size < 0 ? SIZE : size;
        Refusal.checkPage(start, groups);
        indexes = searches.indexes();
        int deepest = searches.deepest();
        reading = new Reading(asked, groups == 0 ? 1 : start / groups + 1, groups, deepest);
        depth = depth(false);
        page = new ShardPage.Asked(asked.values(), start, groups, deepest, node.by());
        pageOfShard = groups > 0 && asked.oneSearchTells() && searches.goWithPageOfShard() && !mayHoldOverrides();
    }

    private boolean mayHoldOverrides() {
        Set<String> beside = searches.ledgers(Ledgers.OVERRIDES, Set.copyOf(indexes));
        return node.ledgers().overrides().holds(beside, searches.caller());
    }

    /** Returns how deep the first window is. */
    public Depth depth() {
        return depth;
    }

    /** Returns the request to the shard; null if it returns a window, and the page is made here. */
    public ShardPage.Asked pageOfShard() {
        return pageOfShard ? page : null;
    }

    /** Goes on with the response to the first window. */
    public void goOn(R response) {
        first = response;
        highest = responses.highest(response);
        received(response);
    }

    /** Gives back the memory that is kept until the search is answered. */
    public void release() {
        node.memory().free(held);
        held = 0;
    }

    private Depth depth(boolean inFullOrder) {
        int hits = searches.byScoreAlone() && !inFullOrder ? reading.depthWithEquals() : reading.depth();
        return new Depth(hits, ids, inFullOrder, first == null);
    }

    private void read(boolean inFullOrder) {
        depth = depth(inFullOrder);
        searches.window(depth, this::received);
    }

    private void readWithIds() {
        ids = true;
        read(false);
    }

    private void received(R response) {
        if (pageOfShard && responses.hits(response).length > 0) {
            pageOfShard = false;
            receivedPage(response);
        } else {
            searches.compute(response, () -> receivedWindow(responses.hits(response)));
        }
    }

    private void receivedWindow(H[] hits) {
        if (cutAmongEquals(hits)) {
            read(true);
            return;
        }
        Ranked<P> ranked = Ranked.of(responses, hits, reading.depth(), searches.byScoreAlone());
        if (ranked.rows().nameless && !ids) {
            readWithIds();
            return;
        }
        listenToReaders(ranked);
    }

    /** Returns whether unread hits might rank before a read one: all beyond the window have one score. */
    private boolean cutAmongEquals(H[] hits) {
        float[] scores = new float[hits.length];
        for (int at = 0; at < hits.length; at++) {
            scores[at] = responses.score(hits[at]);
        }
        return searches.byScoreAlone() && !depth.inFullOrder() && reading.cutAmongEquals(scores, depth.hits());
    }

    /** Answers with the page that the shard made, or makes it here where that could not. */
    private void receivedPage(R response) {
        H[] hits = responses.hits(response);
        ShardPage.Received received = Stream.of(hits)
                .map(hit -> ShardPage.Received.of(responses.value(hit, ShardPage.TOLD)))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow();
        highest = received.score();
        if (received.outcome() != ShardPage.Outcome.WHOLE) {
            read(received.outcome() == ShardPage.Outcome.EQUALS);
            return;
        }
        List<Shown<H, P>> shown = received.marks(hits, hit -> responses.value(hit, ShardPage.PLACED)).stream()
                .map(this::shown)
                .toList();
        if (shown.size() < received.shown()) {
            readWithIds(); // packed ids may be those of an index that this one was copied from
            return;
        }
        listenToReaders(Set.copyOf(indexes), words -> {
            if (!words.isEmpty()) {
                read(false); // a shard knows no manual decisions
                return;
            }
            searches.checkNotCancelled();
            long tookMillis = tookMillis();
            answer(shown, received.account(!responses.isTimedOut(response), tookMillis), tookMillis);
        });
    }

    private Shown<H, P> shown(ShardPage.Mark<H> each) {
        return new Shown<>(responses.id(each.hit()), responses.place(each.hit()), each.hit(), each.mark());
    }

    private void listenToReaders(Ranked<P> ranked) {
        Set<String> found = new TreeSet<>(indexes);
        if (found.isEmpty()) {
            ranked.rows().names.forEach(name -> found.add(name.index()));
        }
        if (!asked.waiting()) {
            listenToReaders(found, words -> group(ranked, words));
            return;
        }
        Set<String> beside = searches.ledgers(Ledgers.PRESETS, found);
        node.ledgers().presets().of(beside, searches.caller(), searches::records, presets -> {
            asked = asked.with(presets);
            listenToReaders(found, words -> group(ranked, words));
        });
    }

    private void listenToReaders(Set<String> found, Consumer<List<Verdict>> next) {
        Set<String> beside = searches.ledgers(Ledgers.OVERRIDES, found);
        node.ledgers().overrides().of(beside, searches.caller(), searches::records, next);
    }

    private void group(Ranked<P> ranked, List<Verdict> words) {
        long bytes = asked.bytes(ranked.rows().packed.length);
        node.memory().take(bytes, Memory.WINDOW);
        Page made;
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
            made = reading.page(window, asked);
        } finally {
            node.memory().free(bytes);
        }
        made.wantLong();
        readLong(() -> fetch(ranked, made));
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
        int end = Math.min(missing.size(), at + LONG_AT_ONCE);
        searches.longSignatures(missing.subList(at, end), response -> {
            for (H hit : responses.hits(response)) {
                byte[] value = PackedField.read(responses.value(hit, PackedField.LONG));
                if (value != null) {
                    hold(value.length);
                    values.put(name(hit), value);
                }
            }
            readLong(missing, end, values, next);
        });
    }

    /** Counts memory that is kept until the search is answered. */
    private void hold(long bytes) {
        node.memory().take(bytes, Memory.LONG_SIGNATURES);
        held += bytes;
    }

    private Name name(H hit) {
        return new Name(responses.index(hit), responses.id(hit));
    }

    private void fetch(Ranked<P> ranked, Page made) {
        Set<Name> names = made.names();
        if (names.isEmpty()) {
            answer(ranked, made, Map.of());
            return;
        }
        searches.documents(names, response -> {
            Map<Name, H> stored = new HashMap<>();
            for (H hit : responses.hits(response)) {
                stored.put(name(hit), hit);
            }
            if (stored.size() < names.size() && !ids) {
                readWithIds(); // packed ids may be those of an index that this one was copied from
            } else {
                answer(ranked, made, stored);
            }
        });
    }

    private void answer(Ranked<P> ranked, Page made, Map<Name, H> stored) {
        long tookMillis = tookMillis();
        Map<String, Object> account = made.account(new Page.Searched(
                responses.matched(first), !responses.isTimedOut(first), ranked.rows().missing, tookMillis, node.by()));
        answer(ranked.shown(made, stored), account, tookMillis);
    }

    private void answer(List<Shown<H, P>> shown, Map<String, Object> account, long tookMillis) {
        searches.answer(new ResultList<>(shown, highest, asked.collapse(), account, tookMillis));
    }

    private long tookMillis() {
        return (System.nanoTime() - began) / 1_000_000;
    }
}
