package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A page that is made on the only shard of a search, while it ranks: only the shown hits of the window leave the shard,
 * and one search is enough.
 *
 * <p>Where a shard cannot make the page, the coordinating node makes it as for several shards.
 */
public final class ShardPage {
    /** The field under which a hit carries its place on the page and its mark. */
    public static final String HIT = "ibidem.placed";
    /** The field of the first hit that holds the values of the page. */
    public static final String PAGE = "ibidem.told";

    /** Both, which are not for callers. */
    public static final Set<String> FIELDS = Set.of(HIT, PAGE);

    private static final String OUTCOME = "outcome";
    private static final String SCORE = "max_score";
    private static final String ACCOUNT = "account";
    private static final String PLACE = "place";
    private static final String MARK = "mark";

    /** The outcome of a page. */
    public enum Outcome {
        /** It is whole. */
        WHOLE,
        /** Hits beyond the window score as those at its end. */
        EQUALS,
        /** The shard cannot decide: the window has to be deeper. */
        UNKNOWN
    }

    /**
     * The request to a shard.
     *
     * @param values options of grouping, as read by {@link Request#of}
     * @param from the first group
     * @param size groups on a page
     * @param deepest the most hits that a window may hold
     * @param by who groups
     */
    public record Spec(Map<String, String> values, int from, int size, int deepest, String by) {
        /** Returns how deep to read. */
        Reading reading(Request request) {
            return new Reading(request, from, size, deepest);
        }

        /** Returns how to group. */
        public Request request() {
            return Request.of(Map.of(), values);
        }
    }

    private final Map<Integer, Map<String, Object>> entries = new HashMap<>();
    private final Map<String, Object> values = new LinkedHashMap<>();
    private final int[] hits;

    private ShardPage(Outcome outcome, float score) {
        values.put(OUTCOME, outcome.name());
        values.put(SCORE, score);
        hits = new int[1];
    }

    private ShardPage(Rows rows, Page page, Map<String, Object> account, float score) {
        values.put(OUTCOME, Outcome.WHOLE.name());
        values.put(SCORE, score);
        values.put(ACCOUNT, account);
        for (Group group : page.groups()) {
            place(group, group.lead(), page, rows);
            group.followers().forEach(row -> place(group, row, page, rows));
        }
        hits = entries.isEmpty()
                ? new int[1]
                : entries.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
    }

    private void place(Group group, int row, Page page, Rows rows) {
        Map<String, Object> each = new LinkedHashMap<>();
        each.put(PLACE, entries.size());
        each.put(MARK, page.mark(group, row, true));
        entries.put(rows.order[row], each);
    }

    /**
     * Makes the page.
     *
     * @param rows the hits of the shard, as the engine ranks them
     * @param scores their scores
     * @param total documents that match the query
     * @param spec which page
     */
    public static ShardPage of(Rows.Builder rows, float[] scores, long total, Spec spec) {
        Request request = spec.request();
        Reading reading = spec.reading(request);
        if (reading.cutAmongEquals(scores, reading.depthWithEquals())) {
            return new ShardPage(Outcome.EQUALS, scores[0]);
        }
        Rows ranking = rows.rows(reading.depth(), true);
        Window window = Window.of(ranking.names, ranking.packed, request.policy(), List.of());
        if (!reading.enough(window)) {
            return new ShardPage(Outcome.UNKNOWN, scores[0]);
        }
        Page page = reading.page(window, request);
        Map<String, Object> account = page.account(new Page.Outcome(total, true, ranking.missing, 0, spec.by()));
        return new ShardPage(ranking, page, account, scores[0]);
    }

    /** Returns which of the hits leave the shard: those of the page, or else the best one; ascending. */
    public int[] hits() {
        return hits;
    }

    /**
     * Returns the values of a hit; null if it is not on the page.
     *
     * @param hit position in the shard's ranking
     */
    public Map<String, Object> values(int hit) {
        return entries.get(hit);
    }

    /** Returns the fields of the page that the first hit carries. */
    public Map<String, Object> values() {
        return values;
    }

    /**
     * The page as it reaches the node that coordinates.
     *
     * @param outcome its outcome
     * @param score the highest score of the window
     * @param account counts that describe the response, still without its time
     */
    public record Reply(Outcome outcome, float score, Map<String, Object> account) {
        /** Reads the values of the first hit; null without values. */
        @SuppressWarnings("unchecked") // the shard wrote it
        public static Reply of(Object field) {
            return field instanceof Map<?, ?> values
                    ? new Reply(Outcome.valueOf((String) values.get(OUTCOME)), (Float) values.get(SCORE), (Map<
                                    String, Object>)
                            values.get(ACCOUNT))
                    : null;
        }

        /**
         * Puts hits in the order of the page.
         *
         * @param hits the received hits
         * @param field the values of a hit
         * @param <H> the engine's hits
         */
        public <H> List<Mark<H>> marks(H[] hits, Function<H, Object> field) {
            List<Mark<H>> marks = new ArrayList<>();
            for (H hit : hits) {
                if (field.apply(hit) instanceof Map<?, ?> values) {
                    marks.add(new Mark<>(hit, values));
                }
            }
            marks.sort(Comparator.comparingInt(Mark::place));
            return marks;
        }

        /** Returns how many hits the page shows. */
        public int size() {
            return (Integer) ((Map<?, ?>) account.get("documents")).get("on_page");
        }

        /** Returns the account, with the values that only the coordinating node knows. */
        @SuppressWarnings("unchecked") // it was made here
        public Map<String, Object> account(boolean whole, long tookMillis) {
            account.put("took_ms", tookMillis);
            if (!whole) {
                ((Map<String, Object>) account.get("groups")).put("exact", false);
            }
            return account;
        }
    }

    /**
     * A hit with its mark.
     *
     * @param hit the engine's
     * @param values its fields
     */
    public record Mark<H>(H hit, Map<?, ?> values) {
        int place() {
            return (Integer) values.get(PLACE);
        }

        /** Returns the mark of the hit. */
        @SuppressWarnings("unchecked") // it was made on the shard
        public Map<String, Object> mark() {
            return (Map<String, Object>) values.get(MARK);
        }
    }

    /** Returns the order in which to read hits: ascending by document. */
    public static int[] ascending(int[] documents) {
        long[] keys = new long[documents.length];
        for (int at = 0; at < documents.length; at++) {
            keys[at] = (long) documents[at] << Integer.SIZE | at;
        }
        Arrays.sort(keys);
        return Arrays.stream(keys).mapToInt(each -> (int) each).toArray();
    }
}
