package ibidem.core;

import java.util.List;
import java.util.Map;

/**
 * The figures of a pair, which a learned rule weighs: {@code pair_figures.py}, bit for bit alike.
 *
 * <p>Figures of one part are next to each other.
 */
final class PairFigures {
    private static final List<Map.Entry<String, String>> TABLE = List.of(
            Map.entry("runs", "five-word runs"),
            Map.entry("runs_of_shorter", "five-word runs"),
            Map.entry("runs_of_longer", "five-word runs"),
            Map.entry("bands", "five-word runs"),
            Map.entry("words_changed", "five-word runs"),
            Map.entry("terms", "rare terms"),
            Map.entry("terms_known", "rare terms"),
            Map.entry("characters", "characters"),
            Map.entry("characters_known", "characters"),
            Map.entry("character_pairs", "characters"),
            Map.entry("characters_changed", "characters"),
            Map.entry("unknown_words", "misread words"),
            Map.entry("unknown_rate", "misread words"),
            Map.entry("unknown_equal", "misread words"),
            Map.entry("unknown_lift", "misread words"),
            Map.entry("length_ratio", "lengths"),
            Map.entry("shorter", "lengths"),
            Map.entry("longer", "lengths"),
            Map.entry("numbers_agree", "numbers"),
            Map.entry("numbers_shared", "numbers"),
            Map.entry("numbers_differing", "numbers"),
            Map.entry("numbers_rate", "numbers"),
            Map.entry("numbers_fewer", "numbers"),
            Map.entry("title", "title"),
            Map.entry("fingerprint", "equal hashes"),
            Map.entry("profile", "equal hashes"),
            Map.entry("days", "dates"),
            Map.entry("dated", "dates"),
            Map.entry("source", "source"));

    static final List<String> NAMES = TABLE.stream().map(Map.Entry::getKey).toList();
    /** The part of the sum that each figure belongs to. */
    static final List<String> PARTS = TABLE.stream().map(Map.Entry::getValue).toList();

    private static final int FEWEST_TERMS = 5;

    private final double[] figures = new double[NAMES.size()];
    private int count;

    private PairFigures() {}

    /** Measures two documents that have words. */
    static double[] of(Packed a, Packed b) {
        PairFigures pair = new PairFigures();
        double runs = Decision.alike(a, b);
        pair.addRuns(a, b, runs);
        pair.addTerms(a, b);
        pair.add(Noise.figures(Decision.sameTable(a, b) ? a.noise : null, b.noise));
        pair.add(
                Decision.lengths(a, b),
                logarithm(Math.min(a.length, b.length)),
                logarithm(Math.max(a.length, b.length)));
        pair.addNumbers(a, b, runs);
        pair.add(a.title == 0 || b.title == 0 ? 0 : a.title == b.title ? 1 : -1);
        pair.add(truth(a.fingerprint != 0 && a.fingerprint == b.fingerprint));
        pair.add(truth(a.profile != 0 && a.profile == b.profile));
        Long days = Decision.daysApart(a, b);
        pair.add(days == null ? 0 : logarithm(1 + days), truth(days != null));
        pair.add(truth(a.source != 0 && a.source == b.source));
        return pair.figures;
    }

    private void add(double... further) {
        System.arraycopy(further, 0, figures, count, further.length);
        count += further.length;
    }

    private void addRuns(Packed a, Packed b, double shared) {
        double common = shared * (a.shingles + b.shingles) / (1 + shared);
        int bands = 0;
        for (int band = 0; band < Packed.BANDS; band++) {
            bands += a.band(band) == b.band(band) ? 1 : 0;
        }
        add(
                shared,
                Math.min(1.0, common / Math.min(a.shingles, b.shingles)),
                Math.min(1.0, common / Math.max(a.shingles, b.shingles)),
                (double) bands / Packed.BANDS,
                changed(shared));
    }

    private void addTerms(Packed a, Packed b) {
        int least = Math.min(a.termCount, b.termCount);
        boolean known = least >= FEWEST_TERMS && Decision.sameTable(a, b);
        add(known ? (double) Decision.sharedTerms(a, b) / least : 0.0, truth(known));
    }

    private void addNumbers(Packed a, Packed b, double runs) {
        double shared = Numbers.share(a, b);
        double differing = Noise.difference(shared, a.numbers, b.numbers);
        add(
                truth(Numbers.agree(a, b)),
                shared,
                logarithm(1 + differing),
                Math.min(1.0, differing / ((1 - runs) * Math.min(a.length, b.length) + 1)),
                logarithm(1 + Math.min(a.numbers, b.numbers)));
    }

    private static double truth(boolean value) {
        return value ? 1 : 0;
    }

    /** Returns a logarithm to base 2, straight between powers of two. */
    private static double logarithm(double value) {
        int exponent = Math.getExponent(value);
        return exponent + (Math.scalb(value, -exponent) - 1);
    }

    /** Returns the share of words or characters that are changed, if a share of their runs is common. */
    static double changed(double share) {
        return 1 - Math.sqrt(Math.sqrt(2 * share / (1 + share)));
    }
}
