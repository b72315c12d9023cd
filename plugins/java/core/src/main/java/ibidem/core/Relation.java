package ibidem.core;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The relation of two long texts, from their matching parts: {@code relations.py}.
 *
 * @param name the relation
 * @param confidence 0 to 1
 * @param contains which of the two holds the other, {@code a} or {@code b}; null where neither does
 * @param a the first and last matching part of the one, from 1
 * @param b those of the other
 * @param signals the figures behind the confidence
 */
record Relation(String name, double confidence, String contains, int[] a, int[] b, Map<String, Object> signals) {
    private static final double LEAST_MATCHED = 0.2;
    private static final double LEAST_CONFIDENCE = 0.5;
    private static final int FAR = 20;
    private static final String SUBSET = "contiguous_subset";
    private static final String CONTAINS = "contains";
    private static final int DIGITS = 3;

    /**
     * Relates two long texts; null when too little matches.
     *
     * @param whole similarity of the whole texts by min-hash; one of the signals
     */
    static Relation of(LongSignatures a, LongSignatures b, double whole) {
        UniqueWords.Alignment alignment = UniqueWords.compare(a.words, b.words);
        PartMatches matches = PartMatches.of(a, b, alignment);
        if (matches.size() == 0) {
            return null;
        }
        PartStatistics statistics = PartStatistics.of(a, b, matches);
        if (Math.max(statistics.matchedA(), statistics.matchedB()) < LEAST_MATCHED) {
            return null;
        }
        Map<String, Object> signals = new LinkedHashMap<>();
        signals.put("whole", whole);
        signals.put("aligned", alignment == null ? 0.0 : alignment.its());
        signals.putAll(statistics.signals());
        signals.putAll(PartStatistics.line(a, b, matches));
        signals.replaceAll((name, value) -> Decision.round((double) value, DIGITS));
        return choose(statistics, signals, matches);
    }

    /** Returns the name, seen from the first of the two. */
    String label() {
        return name.equals(CONTAINS) && "b".equals(contains) ? "part_of" : name;
    }

    /** Returns the same, seen from the other side. */
    Relation reverse() {
        String holder = contains == null ? null : contains.equals("a") ? "b" : "a";
        Map<String, Object> other = new LinkedHashMap<>();
        signals.forEach((signal, value) -> other.put(reverse(signal), value));
        return new Relation(name, confidence, holder, b, a, other);
    }

    private static String reverse(String signal) {
        String stem = signal.substring(0, signal.length() - 1);
        return signal.endsWith("_a") ? stem + "b" : signal.endsWith("_b") ? stem + "a" : signal;
    }

    /** Chooses the relation with the highest confidence; which kind it is comes before where its pages break. */
    private static Relation choose(PartStatistics statistics, Map<String, Object> signals, PartMatches matches) {
        double containment = (double) signals.get("held");
        double fullness = (double) signals.get("fullness");
        double inStep = (double) signals.get("in_step");
        double alike = Math.max(0.0, 1 - square((1 - Math.min(1.0, inStep)) / 0.4));
        double part = highPass(containment, 0.7, 0.9) * (1 - highPass(fullness, 0.55, 0.8));
        double same = highPass(fullness, 0.55, 0.8);
        boolean parts = part * alike + part * (1 - alike) >= same * alike + same * (1 - alike);
        double equal = (parts ? part : same) * alike;
        double unequal = (parts ? part : same) * (1 - alike);
        double confidence = equal + unequal;
        String name = parts
                ? equal >= unequal ? SUBSET : CONTAINS
                : equal >= unequal ? "same_pagination" : "different_pagination";
        if (confidence < LEAST_CONFIDENCE) {
            name = "overlapping_text";
            confidence = 1 - confidence;
        }
        String holder =
                name.equals(SUBSET) || name.equals(CONTAINS) ? statistics.secondContainsFirst() ? "b" : "a" : null;
        return new Relation(
                name, Decision.round(confidence, DIGITS), holder, common(matches.a), common(matches.b), signals);
    }

    private static double square(double value) {
        return value * value;
    }

    private static double highPass(double value, double low, double high) {
        return Decision.round(Math.min(1.0, Math.max(0.0, (value - low) / (high - low))), 6);
    }

    /** Returns the first and last of matching parts, from 1, without a few that are far from all others. */
    private static int[] common(int[] parts) {
        int[] numbers = Arrays.stream(parts).sorted().distinct().toArray();
        int far = Math.max(FAR, numbers.length);
        int longest = 0;
        for (int from = 0, end; from < numbers.length; from = end) {
            end = end(numbers, from, far);
            longest = Math.max(longest, end - from);
        }
        int first = -1;
        int last = -1;
        for (int from = 0, end; from < numbers.length; from = end) {
            end = end(numbers, from, far);
            if (end - from > longest / 4.0) {
                first = first < 0 ? numbers[from] : first;
                last = numbers[end - 1];
            }
        }
        return new int[] {first + 1, last + 1};
    }

    /** Returns where a stretch of parts ends that begins somewhere: before a part that is far off. */
    private static int end(int[] numbers, int from, int far) {
        int end = from + 1;
        while (end < numbers.length && numbers[end] - numbers[end - 1] <= far) {
            end++;
        }
        return end;
    }
}
