package ibidem.core;

/** What tells a text that was scanned and misread from one that says something else: {@code noise.py}. */
final class Noise {
    static final int SLOTS = 64;

    private static final int OF_TERMS = 8;
    private static final int POOR = 0x80;
    private static final double NOISY = 0.02;
    private static final double RUNS_OF_A_WORD = 7.0;
    private static final double CHANCE = 1.0 / 256;
    private static final int SECOND = 5;
    private static final int THIRD = 17;

    private final byte[] bytes;
    private final int at;
    /** Characters in a run; 0 when the block says nothing. */
    private final int run;

    private final double runs;
    private final int unknown;
    /** Whether the text has many unknown words for its length. */
    final boolean noisy;

    private Noise(byte[] bytes, int at) {
        this.bytes = bytes;
        this.at = at;
        run = bytes[at + SLOTS] & 0xFF;
        runs = Math.pow(2, (bytes[at + SLOTS + 1] & 0xFF) / 8.0);
        unknown = bytes[at + SLOTS + 2] & 0xFF | (bytes[at + SLOTS + 3] & 0xFF) << 8;
        noisy = unknown * RUNS_OF_A_WORD >= NOISY * runs;
    }

    /** Reads a block; null where it says nothing. */
    static Noise read(byte[] bytes, int at) {
        return bytes[at + SLOTS] == 0 ? null : new Noise(bytes, at);
    }

    private int slot(int which) {
        return bytes[at + which % SLOTS] & 0xFF;
    }

    /** Returns the key of the band that begins at a slot. */
    long band(int first) {
        return slot(first) | slot(first + SECOND) << 8 | slot(first + THIRD) << 16 | (long) first << 24;
    }

    /**
     * What two blocks tell.
     *
     * @param equal equal slots
     * @param share the share of runs that both have, estimated
     * @param unknown unknown words for each word that differs, estimated
     */
    record Told(int equal, double share, double unknown) {}

    /** Compares two texts; null where what differs does not look misread. */
    static Told misread(Packed a, Packed b, Policy.Characters rule) {
        Noise one = a.noise;
        Noise other = b.noise;
        if (one == null
                || other == null
                || one.run != other.run
                || (one.run & POOR) != 0 && !rule.few()
                || !one.noisy && !other.noisy) {
            return null;
        }
        int equal = one.equal(other, 0, SLOTS);
        double share = Math.max(0.0, ((double) equal / SLOTS - CHANCE) / (1 - CHANCE));
        if (share < rule.share() || !one.sharesBand(other) || one.equalPairs(other) < rule.pairs()) {
            return null;
        }
        double differing = differing(share, one.runs, other.runs);
        double terms = one.unknownIn(other);
        double words = Math.max(1.0, differing / RUNS_OF_A_WORD);
        double figures = differing(Numbers.share(a, b), a.numbers, b.numbers);
        double least = rule.unknown() + rule.numbers() * (figures / words);
        boolean lifted = terms * (one.runs + other.runs) >= rule.lift() * differing * (one.unknown + other.unknown);
        return terms / words >= least && lifted ? new Told(equal, share, terms / words) : null;
    }

    private int equal(Noise other, int from, int count) {
        int equal = 0;
        for (int i = from; i < from + count; i++) {
            equal += bytes[at + i] == other.bytes[other.at + i] ? 1 : 0;
        }
        return equal;
    }

    private boolean sharesBand(Noise other) {
        for (int first = 0; first < SLOTS; first++) {
            if (band(first) == other.band(first)) {
                return true;
            }
        }
        return false;
    }

    /** Counts the equal pairs of slots of those by which an index looks misread texts up: each slot is in one. */
    private int equalPairs(Noise other) {
        int equal = 0;
        for (int first = 0; first < SLOTS; first += 2) {
            boolean both = slot(first) == other.slot(first) && slot(first + SECOND) == other.slot(first + SECOND);
            equal += both ? 1 : 0;
        }
        return equal;
    }

    /** Estimates how many unknown terms are in one text only. */
    private double unknownIn(Noise other) {
        boolean both = unknown > 0 && other.unknown > 0;
        double share = both ? Math.max(0.0, (double) equal(other, SLOTS + 4, OF_TERMS) / OF_TERMS - CHANCE) : 0.0;
        return differing(share, unknown, other.unknown);
    }

    /** Returns how many of two sets' elements are in one only, from their Jaccard index and sizes. */
    private static double differing(double share, double a, double b) {
        return (1 - share) / (1 + share) * (a + b);
    }
}
