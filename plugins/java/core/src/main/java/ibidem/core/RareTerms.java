package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The terms of each feature set that are rarest in a window: long texts that share three keys of them are compared.
 *
 * <p>A key is a term with a bucket of lengths or with the next one, as in {@code candidates.py}.
 */
final class RareTerms {
    private static final int LEAST = 3;

    private final int[][] rarest;

    private RareTerms(int[][] rarest) {
        this.rarest = rarest;
    }

    /** Finds the rarest terms of a window's rows, each idf table for itself. */
    static RareTerms of(Packed[] rows, Policy.Terms rule) {
        Map<Long, List<Integer>> tables = new HashMap<>();
        for (int row = 0; row < rows.length; row++) {
            if (rows[row] != null && rows[row].hasWords() && Decision.eligible(rows[row], rule)) {
                tables.computeIfAbsent(rows[row].idf, table -> new ArrayList<>())
                        .add(row);
            }
        }
        int[][] rarest = new int[rows.length][];
        for (List<Integer> members : tables.values()) {
            Map<Integer, Integer> counts = new HashMap<>();
            members.forEach(
                    row -> Arrays.stream(rows[row].terms()).forEach(term -> counts.merge(term, 1, Integer::sum)));
            int smallest =
                    members.stream().mapToInt(row -> rows[row].termCount).min().orElse(0);
            int least = rule.least(smallest) - LEAST + 1;
            for (int row : members) {
                rarest[row] = (rows[row].flags & Packed.LONG) == 0 ? null : prefix(rows[row].terms(), counts, least);
            }
        }
        return new RareTerms(rarest);
    }

    /** Returns so many of a set's terms that another which shares enough holds three of them; ascending. */
    private static int[] prefix(int[] terms, Map<Integer, Integer> counts, int least) {
        return Arrays.stream(terms)
                .boxed()
                .sorted(Comparator.comparing((Integer term) -> counts.get(term)).thenComparing(term -> term))
                .limit(Math.max(0, terms.length - least + 1))
                .filter(term -> counts.get(term) > 1)
                .mapToInt(Integer::intValue)
                .sorted()
                .toArray();
    }

    /**
     * Returns whether two long texts share enough keys.
     *
     * @param alike whether their lengths are in the same bucket, so that each term makes two keys; else in neighbours
     */
    boolean meet(int row, int other, boolean alike) {
        int shared = 0;
        int[] a = rarest[row];
        int[] b = rarest[other];
        for (int i = 0, j = 0; i < a.length && j < b.length; ) {
            shared += a[i] == b[j] ? 1 : 0;
            int left = a[i];
            i += left <= b[j] ? 1 : 0;
            j += b[j] <= left ? 1 : 0;
        }
        return (alike ? 2 * shared : shared) >= LEAST;
    }
}
