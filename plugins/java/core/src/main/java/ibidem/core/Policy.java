package ibidem.core;

import java.util.Map;
import java.util.Objects;

/** The figures that decide on duplicates; null disables a kind of evidence. */
public record Policy(
        Level level, // the weakest that joins two documents
        Integer windowDays, // most days between two dates for anything but identity; null: dates do not matter
        Integer slots, // min-hash: the least number of equal slots, of 100; a band is shared as well
        Integer longSlots, // the same for two texts of `LONG` tokens each; null for as many
        Terms terms,
        Fingerprint fingerprint,
        Double profile, // the least ratio of lengths where profiles are equal; the numbers have to agree as well
        Characters characters) {

    static final int LONG = 3_000; // tokens from which on a text is long for `longSlots`

    static final double NOISY = 0.02; // the least share of unknown words of a text that may have been misread
    private static final double ROUNDING = 1e-9;

    /** The figures that trials on real collections support. */
    static final Policy DEFAULT = new Policy(
            Level.NEAR,
            null,
            50,
            null,
            new Terms(40.0 / Packed.FULL_SET, true, Packed.FULL_SET, 0.95, true),
            new Fingerprint(0.95, 50),
            null,
            new Characters(0.38, 0.12, 0.3, 0.8, 1.6, false, 3, 0.3, NOISY, NOISY));

    /** Feature-set evidence. */
    record Terms(
            double share, // the least score: shared terms, of the smaller set
            boolean full, // whether only full sets count
            int smallest, // set that counts
            double lengths, // the least share of the longer text that the shorter one's length is
            boolean numbers) { // whether they have to agree
        /** Returns the fewest shared terms that make a score. */
        int least(Packed a, Packed b) {
            return (int) Math.ceil(share * Math.min(a.termCount, b.termCount) - ROUNDING);
        }
    }

    /**
     * Fingerprint evidence.
     *
     * @param lengths the least share of the longer text that the shorter one's length is
     * @param shortest the fewest tokens of a text for which it counts
     */
    record Fingerprint(double lengths, int shortest) {}

    /** Evidence of texts that were read wrongly from scans. */
    record Characters(
            double share, // the least share of the runs of characters that both have
            double unknown, // the least share of words that no list knows, among those in which the two differ
            double numbers, // how much more of them are required for each number among these
            double lengths, // the least share of the longer text that the shorter one's length is
            double lift, // how many times as often an unknown word differs as any run of characters
            boolean few, // whether it counts where the idf table has few terms
            int pairs, // how many pairs of slots are equal at the least, of those by which an index looks up such texts
            double distant, // the least share of the runs where `DISTANT_UNKNOWN` times `unknown` is required
            double misread, // the least share of unknown words that one of the two texts has
            double misreadDense) { // the same of pairs of letters, where letters are syllables or words
        /** How many times as many unknown words are required of a pair that shares fewer runs than {@code share}. */
        private static final double DISTANT_UNKNOWN = 2.0;

        /** Returns the least share of the runs at which any pair counts. */
        double leastShare() {
            return Math.min(share, distant);
        }

        /** Returns the least share of unknown words of a pair that shares so many of its runs. */
        double leastUnknown(double shared) {
            return unknown * (shared < share ? DISTANT_UNKNOWN : 1);
        }
    }

    /** Reads figures as they are stored with an index, without those of learned rules, which only the library knows. */
    static Policy of(Map<?, ?> figures) {
        Map<?, ?> slots = part(figures, "slots");
        Map<?, ?> terms = part(figures, "terms");
        Map<?, ?> print = part(figures, "fingerprint");
        Map<?, ?> runs = part(figures, "characters");
        return new Policy(
                "identical".equalsIgnoreCase(Objects.toString(figures.get("level"))) ? Level.IDENTICAL : Level.NEAR,
                integer(figures, "window_days"),
                integer(slots, "equal"),
                integer(slots, "long"),
                terms.isEmpty()
                        ? null
                        : new Terms(
                                number(terms, "share"),
                                flag(terms, "full"),
                                integer(terms, "smallest"),
                                number(terms, "lengths"),
                                flag(terms, "numbers")),
                print.isEmpty() ? null : new Fingerprint(number(print, "lengths"), integer(print, "shortest")),
                number(figures, "profile"),
                runs.isEmpty()
                        ? null
                        : new Characters(
                                number(runs, "share"),
                                number(runs, "unknown"),
                                number(runs, "numbers"),
                                number(runs, "lengths"),
                                number(runs, "lift"),
                                flag(runs, "few"),
                                integer(runs, "pairs"),
                                number(runs, "distant"),
                                number(runs, "misread"),
                                number(runs, "misread_dense")));
    }

    private static Map<?, ?> part(Map<?, ?> figures, String name) {
        return figures.get(name) instanceof Map<?, ?> part ? part : Map.of();
    }

    private static Integer integer(Map<?, ?> figures, String name) {
        return figures.get(name) instanceof Number number ? Integer.valueOf(number.intValue()) : null;
    }

    private static Double number(Map<?, ?> figures, String name) {
        return figures.get(name) instanceof Number number ? Double.valueOf(number.doubleValue()) : null;
    }

    private static boolean flag(Map<?, ?> figures, String name) {
        return Boolean.TRUE.equals(figures.get(name));
    }

    /** Returns the same figures at another level. */
    Policy at(Level other) {
        return new Policy(other, windowDays, slots, longSlots, terms, fingerprint, profile, characters);
    }

    /** Returns the same figures with another date window. */
    Policy within(Integer days) {
        return new Policy(level, days, slots, longSlots, terms, fingerprint, profile, characters);
    }

    /** Returns the same figures with another least share of common text, in percent. */
    Policy similar(int percent) {
        Integer equal = slots == null ? null : Integer.valueOf(-Math.floorDiv(-100 * percent, 200 - percent));
        Terms shared = terms == null
                ? null
                : new Terms(percent / 100.0, terms.full(), terms.smallest(), terms.lengths(), terms.numbers());
        return new Policy(level, windowDays, equal, null, shared, fingerprint, profile, characters);
    }

    /** Returns the least number of equal slots of a pair whose shorter text has so many tokens; null: none counts. */
    Integer slotsOf(long shorter) {
        return longSlots == null || shorter < LONG ? slots : longSlots;
    }

    boolean near() {
        return level != Level.IDENTICAL;
    }
}
