package ibidem.core;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Distinguishes a badly recognised text from a different text: {@code noise.py}. */
final class Noise {
    static final int SLOTS = 64;

    private static final int OF_TERMS = 8;
    private static final int POOR = 0x80;
    private static final double RUNS_OF_A_WORD = 7.0;
    private static final double RUNS_OF_A_BIGRAM = 1.5;
    /** What share of the unknown words asked for is asked for of bigrams. */
    private static final double UNKNOWN_BIGRAMS = 0.5;

    private static final int DENSE_RUN = 3; // characters in a run of a text in which a letter is a syllable or a word
    private static final double CHANCE = 1.0 / 256;
    private static final int SECOND = 5;
    private static final int THIRD = 17;
    private static final int TERMS = SLOTS + 4; // where the slots of the unknown terms begin
    private static final long HIGHEST = 0x8080_8080_8080_8080L;
    private static final long EVEN = 0x5555_5555_5555_5555L;
    private static final VarHandle WIDE = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[] bytes;
    private final int at;
    private final int run; // characters in a run; 0 when the block says nothing
    private final double runs;
    private final int unknown;
    private final double runsOfTerm; // runs that are lost with a term, or a pair of letters, that differs

    private Noise(byte[] bytes, int at) {
        this.bytes = bytes;
        this.at = at;
        run = bytes[at + SLOTS] & 0xFF;
        runs = Math.pow(2, (bytes[at + SLOTS + 1] & 0xFF) / 8.0);
        unknown = bytes[at + SLOTS + 2] & 0xFF | (bytes[at + SLOTS + 3] & 0xFF) << 8;
        runsOfTerm = dense() ? RUNS_OF_A_BIGRAM : RUNS_OF_A_WORD;
    }

    /** Reads a block; null where it says nothing. */
    static Noise read(byte[] bytes, int at) {
        return bytes[at + SLOTS] == 0 ? null : new Noise(bytes, at);
    }

    /** Returns whether the text has many unknown words, or pairs of letters, for its length. */
    boolean noisy(Policy.Characters rule) {
        return unknown * runsOfTerm >= (dense() ? rule.misreadDense() : rule.misread()) * runs;
    }

    /** Returns whether pairs of letters take the place of terms, which needs no idf table. */
    boolean dense() {
        return run == DENSE_RUN;
    }

    /** Writes the keys of the bands of a value's block, one that begins at each slot; returns where they end. */
    static int putBands(Packed packed, long[] into, int at) {
        return packed.noise == null ? at : packed.noise.putBands(into, at);
    }

    private int putBands(long[] into, int to) {
        byte[] slots = new byte[SLOTS + THIRD];
        System.arraycopy(bytes, at, slots, 0, SLOTS);
        System.arraycopy(bytes, at, slots, SLOTS, THIRD);
        for (int first = 0; first < SLOTS; first++) {
            into[to + first] = slots[first] & 0xFF
                    | (slots[first + SECOND] & 0xFF) << Byte.SIZE
                    | (slots[first + THIRD] & 0xFF) << 2 * Byte.SIZE
                    | (long) first << 3 * Byte.SIZE;
        }
        return to + SLOTS;
    }

    /** Equal slots, and estimates: the share of runs that both have, and unknown words for each word that differs. */
    record Comparison(int equal, double share, double unknown) {}

    /** Compares two texts; null where the differing words do not look misread. */
    static Comparison compare(Packed a, Packed b, Policy.Characters rule) {
        Noise noise = a.noise;
        Noise other = b.noise;
        if (noise == null
                || other == null
                || noise.run != other.run
                || (noise.run & POOR) != 0 && !rule.few()
                || !noise.noisy(rule) && !other.noisy(rule)) {
            return null;
        }
        long slots = noise.equalSlots(other);
        int equal = Long.bitCount(slots);
        double share = Math.max(0.0, ((double) equal / SLOTS - CHANCE) / (1 - CHANCE));
        if (share < rule.leastShare() || !sharesBand(slots) || equalPairs(slots) < rule.pairs()) {
            return null;
        }
        double difference = difference(share, noise.runs, other.runs);
        double terms = noise.unknownIn(other);
        double words = Math.max(1.0, difference / noise.runsOfTerm);
        double figures = difference(Numbers.share(a, b), a.numbers, b.numbers);
        double unknown = rule.leastUnknown(share) * (noise.dense() ? UNKNOWN_BIGRAMS : 1);
        double least = unknown + rule.numbers() * (figures / words);
        double times = noise.dense() ? 0 : rule.lift();
        boolean lift = terms * (noise.runs + other.runs) >= times * difference * (noise.unknown + other.unknown);
        return terms / words >= least && lift ? new Comparison(equal, share, terms / words) : null;
    }

    /** Returns a bit for each slot that both have alike. */
    private long equalSlots(Noise other) {
        long equal = 0;
        for (int from = 0; from < SLOTS; from += Long.BYTES) {
            equal |= Long.compress(zeros(word(from) ^ other.word(from)), HIGHEST) << from;
        }
        return equal;
    }

    private int equalTerms(Noise other) {
        return Long.bitCount(zeros(word(TERMS) ^ other.word(TERMS)));
    }

    private long word(int from) {
        return (long) WIDE.get(bytes, at + from);
    }

    /** Returns the highest bit of each byte that is 0. */
    private static long zeros(long word) {
        return ~((word & ~HIGHEST) + ~HIGHEST | word | ~HIGHEST);
    }

    /** Returns whether the slots of some band are all alike. */
    private static boolean sharesBand(long equal) {
        return (equal & Long.rotateRight(equal, SECOND) & Long.rotateRight(equal, THIRD)) != 0;
    }

    /** Counts the equal pairs of slots of those by which an index looks up misread texts: each slot is in one. */
    private static int equalPairs(long equal) {
        return Long.bitCount(equal & Long.rotateRight(equal, SECOND) & EVEN);
    }

    /** Estimates how many unknown terms are in one text only. */
    private double unknownIn(Noise other) {
        boolean common = unknown > 0 && other.unknown > 0;
        double share = common ? Math.max(0.0, (double) equalTerms(other) / OF_TERMS - CHANCE) : 0.0;
        return difference(share, unknown, other.unknown);
    }

    /** Returns how many of two sets' elements are in one only, from their Jaccard index and sizes. */
    static double difference(double share, double a, double b) {
        return (1 - share) / (1 + share) * (a + b);
    }
}
