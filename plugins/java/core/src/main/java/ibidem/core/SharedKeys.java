package ibidem.core;

import java.util.function.Predicate;

/**
 * Leads by keys of which each row has many.
 *
 * <p>Most keys belong to one row alone and lead to no pair. Two bits for each key, in tables that stay in the
 * processor's cache, tell these, so that only the others are kept and numbered; from then on a key is its number, and
 * nothing is hashed.
 */
final class SharedKeys {
    /** Rows that hold a key, from which on its leads are bits. */
    private static final int MANY = 32;

    /** Writes a row's keys into an array, and returns where they end. */
    interface Source {
        int put(Packed packed, long[] into, int at);
    }

    /** Where each row's keys end; they begin where those of the row before end. */
    private final int[] ends;
    /** The number of each row's keys. */
    private final int[] numbers;
    /** The newest entry of each number. */
    private final int[] heads;
    /** How many leads hold each number. */
    private final int[] leadCounts;
    /** Where the leads of a number that many rows hold begin in {@link #bits}; -1 for others, which have entries. */
    private final int[] dense;
    /** A bit for each row, for each such number. */
    private final long[] bits;

    private final int words;
    private final int[] next;
    private final int[] leads;
    private int count;

    SharedKeys(Packed[] rows, int most, Source source, Predicate<Packed> seeks) {
        ends = new int[rows.length];
        long[] shared = new KeyFilter(rows, most, source, seeks).shared(ends);
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
            int place = (int) (keys[at] * KeyFilter.SALT >>> shift);
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

    /**
     * Collects the leads that share a key with a row.
     *
     * @param row which one
     * @param most leads of a key, from which on they are left out
     * @param into takes a bit for each lead
     * @return whether leads of some key were left out
     */
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
