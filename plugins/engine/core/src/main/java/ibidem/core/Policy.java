package ibidem.core;

/**
 * What counts as a duplicate: every figure of the decision; null takes a kind of evidence away.
 *
 * @param level the weakest level that still joins two documents
 * @param windowDays most days between two dates for anything but identity; null: dates do not matter
 * @param slots min-hash: the least number of equal slots, of 100; a band is shared as well
 * @param terms feature sets
 * @param fingerprint fingerprints
 * @param profile the least ratio of lengths where document profiles are equal; the numbers have to agree as well
 */
public record Policy(
        Level level, Integer windowDays, Integer slots, Terms terms, Fingerprint fingerprint, Double profile) {

    private static final double ROUNDING = 1e-9;

    /** The figures that trials on real collections support. */
    public static final Policy DEFAULT = new Policy(
            Level.NEAR,
            null,
            50,
            new Terms(40.0 / Packed.FULL_SET, true, Packed.FULL_SET, 0.95, true),
            new Fingerprint(0.95, 50),
            null);

    /**
     * Feature-set evidence.
     *
     * @param share the least score: shared terms, of the smaller set
     * @param full whether only full sets count
     * @param smallest the smallest set that counts
     * @param lengths the least share of the longer text that the shorter one's length is
     * @param numbers whether the numbers have to agree
     */
    public record Terms(double share, boolean full, int smallest, double lengths, boolean numbers) {
        /** Returns the fewest shared terms that make a score. */
        int least(int of) {
            return (int) Math.ceil(share * of - ROUNDING);
        }
    }

    /**
     * Fingerprint evidence.
     *
     * @param lengths the least share of the longer text that the shorter one's length is
     * @param shortest the fewest tokens of a text for which it counts
     */
    public record Fingerprint(double lengths, int shortest) {}

    /** Returns the same figures at another level. */
    public Policy at(Level other) {
        return new Policy(other, windowDays, slots, terms, fingerprint, profile);
    }

    /** Returns the same figures with another date window. */
    public Policy within(Integer days) {
        return new Policy(level, days, slots, terms, fingerprint, profile);
    }

    boolean near() {
        return level != Level.IDENTICAL;
    }
}
