package ibidem.core;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Leads by keys, of which a row may have many.
 *
 * <p>Most keys belong to one row alone and lead to no pair. Two bits for each key, in tables that stay in the
 * processor's cache, tell these, so that only the others are kept and numbered; from then on a key is its number, and
 * nothing is hashed.
 */
final class SharedKeys {
    private static final int MANY = 32; // rows that hold a key, from which on its leads are bits

    private static final int SPARE = 16; // bits of the tables for each key, or half as many

    /** Odd, and another one in each process, so that nobody can write values whose keys fall on one place. */
    private static final long SALT = new SecureRandom().nextLong() | 1;

    /** Writes a row's keys into an array, and returns where they end. */
    interface Source {
        int put(Packed packed, long[] into, int at);
    }

    private final int[] ends; // where each row's keys end; they begin where those of the row before end
    private final int[] numbers; // the number of each row's keys
    private final int[] heads; // the newest entry of each number
    private final int[] leadCounts; // how many leads hold each number
    /** Where the leads of a number that many rows hold begin in {@link #bits}; -1 for others, which have entries. */
    private final int[] dense;

    private final long[] bits; // a bit for each row, for each such number
    private final int words;
    private final int[] next;
    private final int[] leads;
    private int count;

    /**
     * @param rows the window; null for a row that is not signed
     * @param most how many keys a row has at the most
     * @param seeks which rows have to share a key for it to matter
     */
    SharedKeys(Packed[] rows, int most, Source source, Predicate<Packed> seeks) {
        ends = new int[rows.length];
        long[] shared = shared(rows, most, source, seeks);
        numbers = new int[shared.length];
        int distinct = number(shared);
        heads = new int[distinct];
        leadCounts = new int[distinct];
        words = words(rows.length);
        dense = new int[distinct];
        bits = new long[placeDense()];
        next = new int[numbers.length];
        leads = new int[numbers.length];
    }

    /** Returns how many words hold a bit for each of some rows. */
    static int words(int rows) {
        return (rows + Long.SIZE - 1) / Long.SIZE;
    }

    /**
     * Returns the keys that may be shared, row after row, all that are among them, and puts where those of each row end.
     *
     * <p>A window's keys are written one row after the other and never all at once, so that what is read stays in the
     * processor's cache.
     */
    private long[] shared(Packed[] rows, int most, Source source, Predicate<Packed> seeks) {
        Packed[] signed = new Packed[rows.length];
        boolean[] seeking = new boolean[rows.length];
        int seekers = 0;
        for (int row = 0; row < rows.length; row++) {
            signed[row] = rows[row] != null && rows[row].hasWords() ? rows[row] : null;
            seeking[row] = signed[row] != null && seeks.test(rows[row]);
            seekers += seeking[row] ? 1 : 0;
        }
        int size = Integer.highestOneBit(Math.max(Long.SIZE, seekers * most)) * SPARE;
        int shift = Long.SIZE - Integer.numberOfTrailingZeros(size);
        long[] held = new long[size / Long.SIZE]; // by a row that seeks others
        long[] met = new long[size / Long.SIZE]; // once more
        long[] rowKeys = new long[most];
        for (boolean isSeeking : new boolean[] {true, false}) {
            for (int row = 0; row < rows.length; row++) {
                int end = signed[row] != null && seeking[row] == isSeeking ? source.put(signed[row], rowKeys, 0) : 0;
                for (int at = 0; at < end; at++) {
                    int bit = (int) (rowKeys[at] * SALT >>> shift);
                    met[bit >>> 6] |= held[bit >>> 6] & 1L << bit;
                    held[bit >>> 6] |= isSeeking ? 1L << bit : 0;
                }
            }
        }
        long[] keys = new long[rows.length];
        int length = 0;
        for (int row = 0; row < rows.length; row++) {
            int end = signed[row] != null ? source.put(signed[row], rowKeys, 0) : 0;
            keys = keys.length < length + end ? Arrays.copyOf(keys, 2 * (length + end)) : keys;
            for (int at = 0; at < end; at++) {
                int bit = (int) (rowKeys[at] * SALT >>> shift);
                keys[length] = rowKeys[at];
                length += (int) (met[bit >>> 6] >>> bit & 1L);
            }
            ends[row] = length;
        }
        return Arrays.copyOf(keys, length);
    }

    /** Gives a place to each number that many rows hold; returns where they end. */
    private int placeDense() {
        for (int number : numbers) {
            dense[number]++;
        }
        int end = 0;
        for (int number = 0; number < dense.length; number++) {
            boolean isDense = dense[number] >= MANY;
            dense[number] = isDense ? end : -1;
            end += isDense ? words : 0;
        }
        return end;
    }

    /** Numbers the keys, equal ones alike; returns how many numbers there are. */
    private int number(long[] keys) {
        int size = Integer.highestOneBit(Math.max(2, keys.length)) * 4;
        int shift = Long.SIZE - Integer.numberOfTrailingZeros(size);
        long[] table = new long[size];
        int[] codes = new int[size];
        int distinct = 0;
        for (int at = 0; at < keys.length; at++) {
            int place = (int) (keys[at] * SALT >>> shift);
            while (codes[place] != 0 && table[place] != keys[at]) {
                place = place + 1 & size - 1;
            }
            if (codes[place] == 0) {
                table[place] = keys[at];
                codes[place] = ++distinct;
            }
            numbers[at] = codes[place] - 1;
        }
        return distinct;
    }

    private int from(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    /** Puts a bit for each lead that shares a key with a row; returns whether some key has too many, which are left out. */
    boolean collect(int row, int most, long[] into) {
        boolean crowded = false;
        for (int at = from(row); at < ends[row]; at++) {
            int number = numbers[at];
            if (leadCounts[number] >= most) {
                crowded = true;
            } else if (leadCounts[number] > 0) {
                collect(number, into);
            }
        }
        return crowded;
    }

    private void collect(int number, long[] into) {
        int begin = dense[number];
        if (begin >= 0) {
            for (int word = 0; word < words; word++) {
                into[word] |= bits[begin + word];
            }
            return;
        }
        for (int entry = heads[number]; entry > 0; entry = next[entry - 1]) {
            into[leads[entry - 1] >>> 6] |= 1L << leads[entry - 1];
        }
    }

    /** Adds the keys of a lead. */
    void add(int row) {
        for (int at = from(row); at < ends[row]; at++) {
            int number = numbers[at];
            leadCounts[number]++;
            if (dense[number] >= 0) {
                bits[dense[number] + (row >>> 6)] |= 1L << row;
            } else {
                next[count] = heads[number];
                leads[count] = row;
                heads[number] = ++count;
            }
        }
    }
}
