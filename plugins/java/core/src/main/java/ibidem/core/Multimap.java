package ibidem.core;

/** Whole numbers by keys, several to a key, in open addressing. */
final class Multimap {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    static final int END = -1;

    private final long[] keys;
    private final int[] heads;
    private final int[] counts;
    private final int[] next;
    private final int[] values;
    private final int mask;
    private int count;

    Multimap(int most) {
        int size = Integer.highestOneBit(Math.max(2, most)) * 4;
        keys = new long[size];
        heads = new int[size];
        counts = new int[size];
        mask = size - 1;
        next = new int[most];
        values = new int[most];
    }

    /** Returns the place of a key, whether or not something is there. */
    int place(long key) {
        int at = (int) (key * GOLDEN >>> 32) & mask;
        while (heads[at] != 0 && keys[at] != key) {
            at = (at + 1) & mask;
        }
        return at;
    }

    /** Returns how many values a place holds. */
    int count(int place) {
        return counts[place];
    }

    /** Returns the newest entry of a place, or {@link #END}. */
    int first(int place) {
        return heads[place] - 1;
    }

    int next(int entry) {
        return next[entry] - 1;
    }

    int value(int entry) {
        return values[entry];
    }

    void add(long key, int value) {
        int at = place(key);
        keys[at] = key;
        next[count] = heads[at];
        values[count] = value;
        heads[at] = ++count;
        counts[at]++;
    }
}
