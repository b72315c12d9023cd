package ibidem.core;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Finds the keys that several rows may hold: two bits for each key, which are right for every key that is shared.
 *
 * <p>A window's keys are written one row after the other and never all at once, so that what is read stays in the
 * processor's cache.
 */
final class KeyFilter {
    /** Odd, and another one in each process, so that nobody can write values whose keys fall on one place. */
    static final long SALT = new SecureRandom().nextLong() | 1;

    /** Bits for each key, or half as many. */
    private static final int SPARE = 16;

    private final Packed[] rows;
    private final SharedKeys.Source source;
    private final long[] rowKeys;
    private final int shift;
    /** Keys that a row which seeks others holds. */
    private final long[] held;
    /** Those of them that were met once more. */
    private final long[] shared;

    /**
     * @param rows the window; null for a row that is not signed
     * @param most how many keys a row has at the most
     * @param source gives the keys of a row
     * @param seeks which rows have to share a key for it to matter
     */
    KeyFilter(Packed[] rows, int most, SharedKeys.Source source, Predicate<Packed> seeks) {
        this.rows = rows;
        this.source = source;
        rowKeys = new long[most];
        boolean[] seeking = new boolean[rows.length];
        int seekers = 0;
        for (int row = 0; row < rows.length; row++) {
            seeking[row] = counts(row) && seeks.test(rows[row]);
            seekers += seeking[row] ? 1 : 0;
        }
        int size = Integer.highestOneBit(Math.max(Long.SIZE, seekers * most)) * SPARE;
        shift = Long.SIZE - Integer.numberOfTrailingZeros(size);
        held = new long[size / Long.SIZE];
        shared = new long[size / Long.SIZE];
        fill(seeking);
    }

    private boolean counts(int row) {
        return rows[row] != null && rows[row].hasWords();
    }

    /** Fills the tables: with the keys of the rows that seek others, then with those that are met. */
    private void fill(boolean[] seeking) {
        for (int row = 0; row < rows.length; row++) {
            if (seeking[row]) {
                hold(source.put(rows[row], rowKeys, 0));
            }
        }
        for (int row = 0; row < rows.length; row++) {
            if (counts(row) && !seeking[row]) {
                meet(source.put(rows[row], rowKeys, 0));
            }
        }
    }

    private void hold(int size) {
        for (int at = 0; at < size; at++) {
            int bit = (int) (rowKeys[at] * SALT >>> shift);
            long mask = 1L << bit;
            shared[bit >>> 6] |= held[bit >>> 6] & mask;
            held[bit >>> 6] |= mask;
        }
    }

    private void meet(int size) {
        for (int at = 0; at < size; at++) {
            int bit = (int) (rowKeys[at] * SALT >>> shift);
            shared[bit >>> 6] |= held[bit >>> 6] & 1L << bit;
        }
    }

    /**
     * Returns the keys that may be shared, row after row.
     *
     * @param ends takes where those of each row end
     */
    long[] shared(int[] ends) {
        long[] keys = new long[rows.length];
        int length = 0;
        for (int row = 0; row < rows.length; row++) {
            int size = counts(row) ? source.put(rows[row], rowKeys, 0) : 0;
            keys = keys.length < length + size ? Arrays.copyOf(keys, 2 * (length + size)) : keys;
            for (int at = 0; at < size; at++) {
                int bit = (int) (rowKeys[at] * SALT >>> shift);
                keys[length] = rowKeys[at];
                length += (int) (shared[bit >>> 6] >>> bit & 1L);
            }
            ends[row] = length;
        }
        return Arrays.copyOf(keys, length);
    }
}
