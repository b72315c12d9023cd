package ibidem.core;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;

/** Whether two documents are duplicates: {@code decision.py}. */
public final class Decision {
    // Codes of evidence, the strongest first.
    static final int NONE = 0;
    static final int CONTENT = 1;
    static final int MINHASH = 2;
    static final int TERMS = 3;
    static final int FINGERPRINT = 4;
    static final int PROFILE = 5;
    static final int CHARACTERS = 6;
    static final int OVERRIDE = 8;

    /** By code; what is learned is left to the library. */
    private static final List<String> SIGNATURES = List.of(
            "", "content", "minhash", "termvector", "fingerprint", "profile", "characters", "learned", "override");

    private static final double CHANCE = 1.0 / (1 << 16);

    private Decision() {}

    /** Returns the name of the signature of a code. */
    public static String signature(int code) {
        return SIGNATURES.get(code);
    }

    /** Returns the code of the strongest evidence; {@link #NONE} where the two are no duplicates. */
    static int code(Packed a, Packed b, Policy policy) {
        if (a == null || b == null || !a.hasWords() || !b.hasWords() || differ(a.guard, b.guard)) {
            return NONE;
        }
        boolean excluded = titlesDiffer(a, b);
        if (a.sameContent(b) && !excluded) {
            return CONTENT;
        }
        return !policy.near() || excluded || !within(a, b, policy.windowDays()) ? NONE : near(a, b, policy);
    }

    private static int near(Packed a, Packed b, Policy policy) {
        if (similarShingles(a, b, policy.slotsOf(Math.min(a.length, b.length)))) {
            return MINHASH;
        }
        if (sharedTerms(a, b, policy.terms())) {
            return TERMS;
        }
        if (sameFingerprint(a, b, policy.fingerprint())) {
            return FINGERPRINT;
        }
        if (sameProfile(a, b, policy.profile())) {
            return PROFILE;
        }
        return compareNoise(a, b, policy.characters()) == null ? NONE : CHARACTERS;
    }

    /** Returns whether two hashes differ that must be equal; a missing value excludes no pair. */
    private static boolean differ(int a, int b) {
        return a != b && a != 0 && b != 0;
    }

    private static boolean within(Packed a, Packed b, Integer days) {
        Long apart = days == null ? null : daysApart(a, b);
        return apart == null || apart <= days;
    }

    /** Returns the days between two date intervals, 0 where they overlap; null when one is missing. */
    private static Long daysApart(Packed a, Packed b) {
        if (a.dateFrom == Packed.NO_DATE || b.dateFrom == Packed.NO_DATE) { // then there is no end either
            return null;
        }
        return Math.max(0, Math.max((long) a.dateFrom - b.dateTo, (long) b.dateFrom - a.dateTo));
    }

    private static boolean similarShingles(Packed a, Packed b, Integer least) {
        if (least == null || !a.hasSlots() || !b.hasSlots() || a.equalSlots(b) < least) {
            return false;
        }
        boolean low = Packed.hasLowBands(least);
        for (int band = 0; band < (low ? Packed.LOW_BANDS : Packed.BANDS); band++) {
            if (low ? a.lowBand(band) == b.lowBand(band) : a.band(band) == b.band(band)) {
                return true;
            }
        }
        return false;
    }

    private static boolean sharedTerms(Packed a, Packed b, Policy.Terms rule) {
        if (rule == null || !sameTable(a, b) || !eligible(a, rule) || !eligible(b, rule)) {
            return false;
        }
        if (lengths(a, b) < rule.lengths()) {
            return false;
        }
        if (rule.numbers() && (!Numbers.agree(a, b) || Numbers.formsDiffer(a, b))) {
            return false;
        }
        int least = rule.least(a, b);
        return a.mayShare(b, least) && sharedTerms(a, b) >= least;
    }

    static int sharedTerms(Packed a, Packed b) {
        int[] ours = a.terms();
        int[] theirs = b.terms();
        int shared = 0;
        for (int i = 0, j = 0; i < ours.length && j < theirs.length; ) {
            int left = ours[i];
            int right = theirs[j];
            shared += left == right ? 1 : 0;
            i += left <= right ? 1 : 0;
            j += right <= left ? 1 : 0;
        }
        return shared;
    }

    /** Returns whether a document's feature set may be compared at all. */
    static boolean eligible(Packed packed, Policy.Terms rule) {
        return packed.termCount >= Math.max(1, rule.smallest())
                && packed.idf != 0
                && (!rule.full() || (packed.flags & Packed.FULL) != 0);
    }

    static boolean sameTable(Packed a, Packed b) {
        return a.idf != 0 && a.idf == b.idf;
    }

    /** Returns the length of the shorter text by that of the longer. */
    static double lengths(Packed a, Packed b) {
        return (double) Math.min(a.length, b.length) / Math.max(a.length, b.length);
    }

    private static boolean sameFingerprint(Packed a, Packed b, Policy.Fingerprint rule) {
        return rule != null
                && a.strongFingerprint()
                && b.strongFingerprint()
                && a.fingerprint == b.fingerprint
                && sameTable(a, b)
                && Math.min(a.length, b.length) >= rule.shortest()
                && lengths(a, b) >= rule.lengths()
                && Numbers.equal(a, b);
    }

    private static boolean sameProfile(Packed a, Packed b, Double least) {
        return least != null
                && a.profile != 0
                && a.profile == b.profile
                && lengths(a, b) >= least
                && Numbers.agree(a, b);
    }

    /** Returns whether the titles of two short texts differ. */
    private static boolean titlesDiffer(Packed a, Packed b) {
        return a.titled() && b.titled() && a.title != b.title;
    }

    private static boolean sameList(Packed a, Packed b) {
        return a.noise != null && a.noise.dense() || sameTable(a, b);
    }

    private static Noise.Comparison compareNoise(Packed a, Packed b, Policy.Characters rule) {
        if (rule == null || !sameList(a, b) || lengths(a, b) < rule.lengths()) {
            return null;
        }
        return rule.numbers() > 0 && Numbers.formsDiffer(a, b) ? null : Noise.compare(a, b, rule);
    }

    /**
     * The evidence for the level of a pair.
     *
     * @param level the strongest level that the pair reaches
     * @param score 0 to 1
     * @param why the signature, its figures and the values of the guards, as an answer shows them
     */
    record Evidence(Level level, double score, Map<String, Object> why) {}

    /** Decides on two documents, with the reason; null if they are no duplicates by packed values. */
    static Evidence evidence(Packed a, Packed b, Policy policy) {
        int code = code(a, b, policy);
        if (code == NONE) {
            return null;
        }
        Map<String, Object> why = Members.of("signature", signature(code));
        double score = 1.0;
        if (code == CHARACTERS) {
            Noise.Comparison found = compareNoise(a, b, policy.characters());
            score = found.share();
            why.putAll(Members.of("shared", found.equal(), "of", Noise.SLOTS, "estimate", round(score, 3)));
            why.put("unknown", round(Math.min(1.0, found.unknown()), 2));
        } else if (code == MINHASH || code == TERMS) {
            int shared = code == MINHASH ? a.equalSlots(b) : sharedTerms(a, b);
            int size = code == MINHASH ? Packed.SLOTS : Math.min(a.termCount, b.termCount);
            score = (double) shared / size;
            why.putAll(Members.of("shared", shared, "of", size));
            if (code == MINHASH) {
                why.put("estimate", round(Math.max(0, (score - CHANCE) / (1 - CHANCE)), 3));
            }
        }
        why.putAll(Members.of("days_apart", daysApart(a, b), "length_ratio", round(lengths(a, b), 2)));
        why.put("numbers_agree", Numbers.agree(a, b));
        String differs = besideWords(a, b);
        if (differs != null) {
            why.put("differs", differs);
        }
        return new Evidence(code == CONTENT ? Level.IDENTICAL : Level.NEAR, round(score, 3), why);
    }

    /** Returns what differs of two texts with the same words; null where words differ, or nothing does. */
    private static String besideWords(Packed a, Packed b) {
        if (a.words == 0
                || a.sameContent(b)
                || a.length != b.length
                || a.shingles != b.shingles
                || a.words != b.words) {
            return null;
        }
        if (a.signs != b.signs) {
            return "signs";
        }
        if ((a.titled() || b.titled()) && (a.flags != b.flags || a.title != b.title)) {
            return "title";
        }
        return a.source == b.source ? "mail" : "sender";
    }

    /** Rounds as Python does: the exact value, halves to even. */
    private static double round(double value, int digits) {
        return new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).doubleValue();
    }
}
