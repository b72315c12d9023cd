package ibidem.core;

import java.util.Arrays;

/** The words that occur once in a text, in their order, and how those of two texts align: {@code unique_words.py}. */
final class UniqueWords {
    private static final double ITS = 0.72;
    private static final double CS = 0.12;
    private static final int LEAST_ALIGNED = 100;
    private static final int LEAST_WORDS = 100;
    private static final int STEPS = 6;
    private static final long LOW = 0xFFFFFFFFL;

    /** Each word's hash and place in the text, in the order of the hashes. */
    private final long[] keys;

    private final boolean alphabetical;

    /**
     * @param words hashes in the order of the text
     * @param alphabetical whether they are in alphabetical order, so that they are compared with nothing
     */
    UniqueWords(int[] words, boolean alphabetical) {
        this.alphabetical = alphabetical;
        keys = new long[words.length];
        for (int at = 0; at < words.length; at++) {
            keys[at] = (words[at] & LOW) << 31 | at;
        }
        Arrays.sort(keys);
    }

    /**
     * The longest common subsequence of two sequences of words.
     *
     * @param a places in the one, ascending
     * @param b places in the other, ascending
     * @param its log L / log(|X| + |Y| - L)
     * @param cs L / √(|X| · |Y|)
     */
    record Alignment(int[] a, int[] b, double its, double cs) {
        /** Returns whether the two texts share enough to be reported. */
        boolean counts() {
            return its >= ITS || cs >= CS && a.length >= LEAST_ALIGNED;
        }
    }

    private int size() {
        return keys.length;
    }

    private boolean comparable() {
        return size() >= LEAST_WORDS && !alphabetical;
    }

    /** Aligns the words of two texts; null where they reach no threshold, or may not be compared. */
    static Alignment compare(UniqueWords a, UniqueWords b) {
        if (!a.comparable() || !b.comparable()) {
            return null;
        }
        long[] common = common(a, b);
        if (common.length < leastCommon(a.size(), b.size())) {
            return null;
        }
        int[] rows = longest(common);
        if (rows.length < 2) {
            return null;
        }
        int[] left = new int[rows.length];
        int[] right = new int[rows.length];
        for (int at = 0; at < rows.length; at++) {
            left[at] = (int) (common[rows[at]] >>> 32);
            right[at] = (int) common[rows[at]];
        }
        double its = Math.log(rows.length) / Math.log(a.size() + b.size() - rows.length);
        return new Alignment(left, right, its, rows.length / Math.sqrt((double) a.size() * b.size()));
    }

    /** Returns the least length of a common subsequence with which two sequences reach a threshold. */
    private static int leastCommon(int a, int b) {
        int byCs = Math.max(LEAST_ALIGNED, (int) (CS * Math.sqrt((double) a * b)));
        double byIts = 1.0;
        for (int step = 0; step < STEPS; step++) {
            byIts = Math.pow(a + b - byIts, ITS);
        }
        return Math.max(2, Math.min(Math.min(byCs, (int) byIts), Math.min(a, b)));
    }

    /** Returns the places of the common words, each as one number, in the order of the first text. */
    private static long[] common(UniqueWords a, UniqueWords b) {
        boolean swap = a.size() > b.size();
        UniqueWords shorter = swap ? b : a;
        UniqueWords longer = swap ? a : b;
        long[] pairs = new long[shorter.size()];
        int count = 0;
        for (int i = 0, j = 0; i < shorter.size(); i++) {
            while (j < longer.size() && longer.word(j) < shorter.word(i)) {
                j++;
            }
            if (j < longer.size() && longer.word(j) == shorter.word(i)) {
                long left = swap ? longer.place(j) : shorter.place(i);
                pairs[count++] = left << 32 | (swap ? shorter.place(i) : longer.place(j));
            }
        }
        long[] common = Arrays.copyOf(pairs, count);
        Arrays.sort(common);
        return common;
    }

    private long word(int at) {
        return keys[at] >>> 31;
    }

    private int place(int at) {
        return (int) keys[at] & Integer.MAX_VALUE;
    }

    /** Returns which pairs make the longest subsequence whose second places rise (patience). */
    private static int[] longest(long[] pairs) {
        int[] tails = new int[pairs.length];
        int[] holders = new int[pairs.length];
        int[] before = new int[pairs.length];
        int length = 0;
        for (int at = 0; at < pairs.length; at++) {
            int value = (int) pairs[at];
            int index = Arrays.binarySearch(tails, 0, length, value);
            int place = index < 0 ? -index - 1 : index;
            tails[place] = value;
            holders[place] = at;
            before[at] = place > 0 ? holders[place - 1] : -1;
            length = Math.max(length, place + 1);
        }
        int[] rows = new int[length];
        for (int at = length - 1, row = length > 0 ? holders[length - 1] : -1; row >= 0; row = before[row]) {
            rows[at--] = row;
        }
        return rows;
    }
}
