package ibidem.core;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;

/** Whether two documents are duplicates: {@code decision.py} for the levels that packed values decide on. */
public final class Decision {
    /** Codes of evidence, the strongest first. */
    static final int NONE = 0;

    static final int CONTENT = 1;
    static final int MINHASH = 2;
    static final int TERMS = 3;
    static final int FINGERPRINT = 4;
    static final int PROFILE = 5;
    static final int CHARACTERS = 6;
    static final int OVERRIDE = 7;

    private static final String[] SIGNATURES = {
        "", "content", "minhash", "termvector", "fingerprint", "profile", "characters", "override"
    };
    private static final double CHANCE = 1.0 / (1 << 16);

    private Decision() {}

    /** Returns the name of the signature that a code stands for. */
    public static String signature(int code) {
        return SIGNATURES[code];
    }

    /** Returns the code of the strongest evidence; {@link #NONE} where the two are no duplicates. */
    static int code(Packed a, Packed b, Policy policy) {
        if (a == null
                || b == null
                || !a.hasWords()
                || !b.hasWords()
                || differ(a.guard, b.guard)
                || differ(a.title, b.title)) {
            return NONE;
        }
        if (a.sameContent(b)) {
            return CONTENT;
        }
        return policy.near() && within(a, b, policy.windowDays()) ? near(a, b, policy) : NONE;
    }

    private static int near(Packed a, Packed b, Policy policy) {
        if (similarShingles(a, b, policy.slots())) {
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
        return misread(a, b, policy.characters()) == null ? NONE : CHARACTERS;
    }

    /** Tells whether hashes of what must not differ do; a missing value speaks against no pair. */
    private static boolean differ(int a, int b) {
        return a != b && a != 0 && b != 0;
    }

    private static boolean within(Packed a, Packed b, Integer days) {
        Long apart = days == null ? null : daysApart(a, b);
        return apart == null || apart <= days;
    }

    /** Returns the days between two date intervals, 0 where they overlap; null when one is missing. */
    private static Long daysApart(Packed a, Packed b) {
        if (a.dateFrom == Packed.NO_DATE
                || a.dateTo == Packed.NO_DATE
                || b.dateFrom == Packed.NO_DATE
                || b.dateTo == Packed.NO_DATE) {
            return null;
        }
        return Math.max(0, Math.max((long) a.dateFrom - b.dateTo, (long) b.dateFrom - a.dateTo));
    }

    private static boolean similarShingles(Packed a, Packed b, Integer least) {
        if (least == null || !a.hasSlots() || !b.hasSlots() || equalSlots(a, b) < least) {
            return false;
        }
        for (int band = 0; band < Packed.BANDS; band++) {
            if (a.band(band) == b.band(band)) {
                return true;
            }
        }
        return false;
    }

    private static int equalSlots(Packed a, Packed b) {
        int equal = 0;
        for (int i = 0; i < Packed.SLOTS; i++) {
            equal += a.slot(i) == b.slot(i) ? 1 : 0;
        }
        return equal;
    }

    private static boolean sharedTerms(Packed a, Packed b, Policy.Terms rule) {
        if (rule == null || !sameTable(a, b) || !eligible(a, rule) || !eligible(b, rule)) {
            return false;
        }
        if (lengths(a, b) < rule.lengths() || rule.numbers() && !Numbers.agree(a, b)) {
            return false;
        }
        int least = rule.least(Math.min(a.terms.length, b.terms.length));
        return a.bits.mayShare(b.bits, least) && sharedTerms(a, b) >= least;
    }

    private static int sharedTerms(Packed a, Packed b) {
        int shared = 0;
        for (int i = 0, j = 0; i < a.terms.length && j < b.terms.length; ) {
            int left = a.terms[i];
            int right = b.terms[j];
            shared += left == right ? 1 : 0;
            i += left <= right ? 1 : 0;
            j += right <= left ? 1 : 0;
        }
        return shared;
    }

    /** Tells whether a document's feature set may be compared at all. */
    static boolean eligible(Packed packed, Policy.Terms rule) {
        return packed.terms.length >= Math.max(1, rule.smallest())
                && packed.idf != 0
                && (!rule.full() || (packed.flags & Packed.FULL) != 0);
    }

    private static boolean sameTable(Packed a, Packed b) {
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

    private static Noise.Told misread(Packed a, Packed b, Policy.Characters rule) {
        return rule == null || !sameTable(a, b) || lengths(a, b) < rule.lengths() ? null : Noise.misread(a, b, rule);
    }

    /** Decides on two documents and tells the reason; null where they are no duplicates. */
    public static Evidence evidence(Packed a, Packed b, Policy policy) {
        int code = code(a, b, policy);
        if (code == NONE) {
            return null;
        }
        Map<String, Object> why = new LinkedHashMap<>();
        why.put("signature", signature(code));
        double score = code == CHARACTERS ? figures(misread(a, b, policy.characters()), why) : figures(a, b, code, why);
        why.put("days_apart", daysApart(a, b));
        why.put("length_ratio", rounded(lengths(a, b), 2));
        why.put("numbers_agree", Numbers.agree(a, b));
        return new Evidence(code == CONTENT ? Level.IDENTICAL : Level.NEAR, signature(code), rounded(score, 3), why);
    }

    private static double figures(Noise.Told told, Map<String, Object> why) {
        why.put("shared", told.equal());
        why.put("of", Noise.SLOTS);
        why.put("estimate", rounded(told.share(), 3));
        why.put("unknown", rounded(Math.min(1.0, told.unknown()), 2));
        return told.share();
    }

    private static double figures(Packed a, Packed b, int code, Map<String, Object> why) {
        if (code != MINHASH && code != TERMS) {
            return 1.0;
        }
        int shared = code == MINHASH ? equalSlots(a, b) : sharedTerms(a, b);
        int of = code == MINHASH ? Packed.SLOTS : Math.min(a.terms.length, b.terms.length);
        why.put("shared", shared);
        why.put("of", of);
        double share = (double) shared / of;
        if (code == MINHASH) {
            why.put("estimate", rounded(Math.max(0, (share - CHANCE) / (1 - CHANCE)), 3));
        }
        return share;
    }

    /** Rounds as Python does: the exact value, halves to even. */
    private static double rounded(double value, int digits) {
        return new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).doubleValue();
    }
}
