package ibidem.core;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;

/** Whether two documents are duplicates: {@code decision.py}. */
public final class Decision {
    /** Codes of evidence, the strongest first. */
    static final int NONE = 0;

    static final int CONTENT = 1;
    static final int MINHASH = 2;
    static final int TERMS = 3;
    static final int FINGERPRINT = 4;
    static final int PROFILE = 5;
    static final int CHARACTERS = 6;
    static final int LEARNED = 7;
    static final int OVERRIDE = 8;
    static final int SHINGLES = 9;
    /** Two long texts, on which only their long signatures can decide. */
    static final int UNDECIDED = 10;

    static final int RELATION = 11;

    private static final String[] SIGNATURES = {
        "",
        "content",
        "minhash",
        "termvector",
        "fingerprint",
        "profile",
        "characters",
        "learned",
        "override",
        "shingles"
    };
    private static final double CHANCE = 1.0 / (1 << 16);
    private static final int LEAST_FOR_CONTAINMENT = 10;

    private Decision() {}

    /** Returns the name of the signature of a code. */
    public static String signature(int code) {
        return SIGNATURES[code];
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
        if (!policy.near() || excluded && policy.learned() == null || !within(a, b, policy.windowDays())) {
            return NONE;
        }
        int near = policy.learned() == null ? near(a, b, policy) : learned(a, b, policy.learned());
        return near == NONE && policy.partial() && !excluded ? partial(a, b, policy) : near;
    }

    /** Judges a pair by a learned rule, if it shares enough to be a candidate. */
    private static int learned(Packed a, Packed b, Learned rule) {
        return near(a, b, Policy.LOOSE) != NONE && rule.total(PairFigures.of(a, b)) >= 0 ? LEARNED : NONE;
    }

    private static int partial(Packed a, Packed b, Policy policy) {
        if (a.isLong() && b.isLong()) {
            return policy.related() == null ? NONE : UNDECIDED;
        }
        Policy.Contained rule = policy.contained();
        boolean counts = rule != null && Math.min(a.length, b.length) >= rule.shortest();
        return counts && containment(a, b) >= rule.share() ? SHINGLES : NONE;
    }

    /** Estimates how much of the smaller text the other holds; 0 if too few slots are equal for an estimate. */
    private static double containment(Packed a, Packed b) {
        if (!a.hasSlots() || !b.hasSlots() || a.equalSlots(b) < LEAST_FOR_CONTAINMENT) {
            return 0.0;
        }
        double alike = alike(a, b);
        return Math.min(1.0, alike * (a.shingles + b.shingles) / ((1 + alike) * Math.min(a.shingles, b.shingles)));
    }

    /** Returns how alike two texts are as a whole by min-hash. */
    static double alike(Packed a, Packed b) {
        return a.hasSlots() && b.hasSlots() ? withoutChance((double) a.equalSlots(b) / Packed.SLOTS) : 0.0;
    }

    private static double withoutChance(double share) {
        return Math.max(0, (share - CHANCE) / (1 - CHANCE));
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
    static Long daysApart(Packed a, Packed b) {
        if (a.dateFrom == Packed.NO_DATE
                || a.dateTo == Packed.NO_DATE
                || b.dateFrom == Packed.NO_DATE
                || b.dateTo == Packed.NO_DATE) {
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
        int least = rule.least(Math.min(a.termCount, b.termCount));
        return a.bits().mayShare(b.bits(), least) && sharedTerms(a, b) >= least;
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

    /** Decides on two documents, with the reason; null if they are no duplicates by packed values. */
    public static Evidence evidence(Packed a, Packed b, Policy policy) {
        int code = code(a, b, policy);
        if (code == NONE || code == UNDECIDED) {
            return null;
        }
        Map<String, Object> why = new LinkedHashMap<>();
        why.put("signature", signature(code));
        double score = switch (code) {
            case CHARACTERS -> figures(compareNoise(a, b, policy.characters()), why);
            case LEARNED -> policy.learned().put(PairFigures.of(a, b), why);
            default -> figures(a, b, code, why);
        };
        putGuards(a, b, why);
        Level level = code == CONTENT ? Level.IDENTICAL : code == SHINGLES ? Level.PARTIAL : Level.NEAR;
        return new Evidence(level, signature(code), round(score, 3), why);
    }

    private static void putGuards(Packed a, Packed b, Map<String, Object> why) {
        why.put("days_apart", daysApart(a, b));
        why.put("length_ratio", round(lengths(a, b), 2));
        why.put("numbers_agree", Numbers.agree(a, b));
        String differs = besideWords(a, b);
        if (differs != null) {
            why.put("differs", differs);
        }
    }

    /** Returns what differs of two texts with the same words; null where words differ, or nothing does. */
    private static String besideWords(Packed a, Packed b) {
        boolean sameText = a.contentLow == b.contentLow && a.contentHigh == b.contentHigh;
        if (a.words == 0 || sameText || a.length != b.length || a.shingles != b.shingles || a.words != b.words) {
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

    /** Returns the relation of a long text to another, if it may be evidence; null without a relation. */
    static Evidence relation(Packed a, Packed b, LongSignatures longA, LongSignatures longB, Policy policy) {
        if (!a.hasWords()
                || !b.hasWords()
                || differ(a.guard, b.guard)
                || titlesDiffer(a, b)
                || !within(a, b, policy.windowDays())) {
            return null;
        }
        boolean swap = a.compareText(b) > 0;
        Relation result = swap ? Relation.of(longB, longA, alike(a, b)) : Relation.of(longA, longB, alike(a, b));
        if (result == null || result.confidence() < policy.related()) {
            return null;
        }
        Relation relation = swap ? result.reverse() : result;
        Map<String, Object> why = new LinkedHashMap<>();
        why.put("signature", longA.parts);
        why.put("relation", relation.label());
        if (relation.contains() != null) {
            why.put("direction", relation.contains().equals("a") ? "contains" : "part_of");
        }
        why.put("confidence", relation.confidence());
        why.put("parts", longA.parts);
        why.put("own", span(relation.a(), longA.size));
        why.put("other", span(relation.b(), longB.size));
        why.put("signals", relation.signals());
        putGuards(a, b, why);
        return new Evidence(Level.PARTIAL, longA.parts, relation.confidence(), why);
    }

    private static Map<String, Object> span(int[] ends, int set) {
        Map<String, Object> span = new LinkedHashMap<>();
        span.put("from", ends[0]);
        span.put("to", ends[1]);
        span.put("of", set);
        return span;
    }

    private static double figures(Noise.Comparison comparison, Map<String, Object> why) {
        why.put("shared", comparison.equal());
        why.put("of", Noise.SLOTS);
        why.put("estimate", round(comparison.share(), 3));
        why.put("unknown", round(Math.min(1.0, comparison.unknown()), 2));
        return comparison.share();
    }

    private static double figures(Packed a, Packed b, int code, Map<String, Object> why) {
        if (code == SHINGLES) {
            return putContainment(a, b, why);
        }
        if (code != MINHASH && code != TERMS) {
            return 1.0;
        }
        int shared = code == MINHASH ? a.equalSlots(b) : sharedTerms(a, b);
        int size = code == MINHASH ? Packed.SLOTS : Math.min(a.termCount, b.termCount);
        why.put("shared", shared);
        why.put("of", size);
        double share = (double) shared / size;
        if (code == MINHASH) {
            why.put("estimate", round(withoutChance(share), 3));
        }
        return share;
    }

    private static double putContainment(Packed a, Packed b, Map<String, Object> why) {
        double share = containment(a, b);
        boolean smaller = a.shingles < b.shingles || a.shingles == b.shingles && a.compareText(b) < 0;
        why.put("relation", smaller ? "part_of" : "contains");
        why.put("estimate", round(share, 3));
        return share;
    }

    /** Rounds as Python does: the exact value, halves to even. */
    static double round(double value, int digits) {
        return new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).doubleValue();
    }
}
