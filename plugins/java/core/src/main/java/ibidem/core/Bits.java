package ibidem.core;

/** A bit of 512 for each term of a set: how many bits two sets share bounds how many terms they can. */
final class Bits {
    private static final int WORDS = 8;
    private static final int GOLDEN = 0x9E3779B1;
    private static final int SHIFT = 32 - 9;

    private final long[] words = new long[WORDS];
    /** Terms whose bit another term of the same set has too. */
    private final int hidden;

    private Bits(int[] terms) {
        for (int term : terms) {
            int bit = term * GOLDEN >>> SHIFT;
            words[bit >>> 6] |= 1L << bit;
        }
        int set = 0;
        for (long word : words) {
            set += Long.bitCount(word);
        }
        hidden = terms.length - set;
    }

    static Bits of(int[] terms) {
        return new Bits(terms);
    }

    /** Returns whether two sets may share so many terms; never wrong when it says no. */
    boolean mayShare(Bits other, int least) {
        int common = 0;
        for (int i = 0; i < WORDS; i++) {
            common += Long.bitCount(words[i] & other.words[i]);
        }
        return common + Math.min(hidden, other.hidden) >= least;
    }
}
