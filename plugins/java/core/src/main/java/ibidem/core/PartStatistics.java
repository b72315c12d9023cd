package ibidem.core;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Statistics of two texts' matching parts.
 *
 * @param matchedA share of the one's parts that match
 * @param matchedB share of the other's
 * @param coveredA share of the one's shingles that the other has, estimated
 * @param coveredB share of the other's
 * @param similarity mean similarity of parts to their best matches, of the text where it is higher
 */
record PartStatistics(double matchedA, double matchedB, double coveredA, double coveredB, double similarity) {
    private static final double NEARLY_ALL = 0.9;
    private static final double LEAST_WEIGHT = 0.01;
    private static final int UNROLLED = 8;
    private static final int BLOCK = 128;

    static PartStatistics of(LongSignatures a, LongSignatures b, PartMatches matches) {
        double[] shared = new double[matches.size()];
        for (int at = 0; at < shared.length; at++) {
            double tokens = (double) a.tokens[matches.a[at]] + b.tokens[matches.b[at]];
            shared[at] = matches.similarity[at] * tokens / (1 + matches.similarity[at]);
        }
        return new PartStatistics(
                matchShare(a, matches.a),
                matchShare(b, matches.b),
                coverage(a, matches.a, shared),
                coverage(b, matches.b, shared),
                Math.max(best(a, matches.a, matches.similarity), best(b, matches.b, matches.similarity)));
    }

    /** Returns whether the other text has more of the first one; of equal ones, whether more of its parts match. */
    boolean secondContainsFirst() {
        return coveredA > coveredB || coveredA == coveredB && matchedA >= matchedB;
    }

    /** Returns the signals that filters look at. */
    Map<String, Object> signals() {
        double less = Math.min(coveredA, coveredB);
        double more = Math.max(coveredA, coveredB);
        boolean noisy = Math.min(matchedA, matchedB) >= NEARLY_ALL;
        double alike = more / (2 - more);
        Map<String, Object> signals = new LinkedHashMap<>();
        signals.put("matched_a", matchedA);
        signals.put("matched_b", matchedB);
        signals.put("covered_a", coveredA);
        signals.put("covered_b", coveredB);
        signals.put("held", secondContainsFirst() ? matchedA : matchedB);
        signals.put("fullness", noisy ? more == 0 ? 1.0 : less / more : less);
        signals.put("in_step", alike == 0 ? 0.0 : similarity / alike);
        return signals;
    }

    private static double matchShare(LongSignatures text, int[] parts) {
        return (double) Arrays.stream(parts).distinct().count() / Math.max(1, text.filled());
    }

    private static double coverage(LongSignatures text, int[] parts, double[] shared) {
        double[] byPart = new double[text.size];
        for (int at = 0; at < parts.length; at++) {
            byPart[parts[at]] += shared[at];
        }
        for (int part = 0; part < text.size; part++) {
            byPart[part] = Math.min(byPart[part], text.tokens[part]);
        }
        return sum(byPart, 0, text.size)
                / Math.max(1, Arrays.stream(text.tokens).sum());
    }

    /** Returns the mean similarity of a text's parts to their best matches, of those that match by slots. */
    private static double best(LongSignatures text, int[] parts, double[] similarity) {
        double[] highest = new double[text.size];
        for (int at = 0; at < parts.length; at++) {
            highest[parts[at]] = Math.max(highest[parts[at]], similarity[at]);
        }
        double[] values = Arrays.stream(highest).filter(each -> each > 0).toArray();
        return values.length == 0 ? 0.0 : sum(values, 0, values.length) / values.length;
    }

    /** Adds up in the order in which NumPy does, since equal sums decide which text holds the other. */
    private static double sum(double[] values, int from, int count) {
        if (count > BLOCK) {
            int half = count / 2 - count / 2 % UNROLLED;
            return sum(values, from, half) + sum(values, from + half, count - half);
        }
        double sum = 0;
        int at = from;
        if (count >= UNROLLED) {
            double[] parts = Arrays.copyOfRange(values, from, from + UNROLLED);
            for (at += UNROLLED; at + UNROLLED <= from + count; at += UNROLLED) {
                for (int each = 0; each < UNROLLED; each++) {
                    parts[each] += values[at + each];
                }
            }
            sum = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
        }
        for (; at < from + count; at++) {
            sum += values[at];
        }
        return sum;
    }

    /** Fits a line through matching parts, and sees how they run into the next ones. */
    static Map<String, Object> line(LongSignatures a, LongSignatures b, PartMatches matches) {
        int last = matches.size() - 1;
        if (matches.a[0] == matches.a[last]) {
            return Map.of();
        }
        double weights = 0;
        double x = 0;
        double y = 0;
        for (int at = 0; at <= last; at++) {
            double weight = weight(matches, at);
            weights += weight;
            x += weight * matches.a[at];
            y += weight * matches.b[at];
        }
        double covariance = 0;
        double variance = 0;
        for (int at = 0; at <= last; at++) {
            double step = weight(matches, at) * (matches.a[at] - x / weights);
            covariance += step * (matches.b[at] - y / weights);
            variance += step * (matches.a[at] - x / weights);
        }
        double slope = covariance / variance;
        double offset = y / weights - slope * (x / weights);
        double highest = Arrays.stream(matches.b).max().orElse(0);
        return Map.of(
                "slope",
                slope,
                "rest",
                highest - (slope * matches.a[last] + offset),
                "consecutive",
                consecutive(a, b, matches));
    }

    private static double weight(PartMatches matches, int at) {
        double weight = Math.max(matches.similarity[at], LEAST_WEIGHT);
        return weight * weight;
    }

    /** Returns how much pages of the denser text run over two of the other. */
    private static double consecutive(LongSignatures a, LongSignatures b, PartMatches matches) {
        boolean first = a.size <= b.size;
        int[] rows = first ? matches.a : matches.b;
        int[] columns = first ? matches.b : matches.a;
        long width = Math.max(a.size, b.size) + 1;
        Integer[] order = new Integer[rows.length];
        Arrays.setAll(order, at -> at);
        Arrays.sort(
                order,
                (left, right) ->
                        Long.compare(rows[left] * width + columns[left], rows[right] * width + columns[right]));
        double sum = 0;
        for (int at = 1; at < order.length; at++) {
            long step = (rows[order[at]] - rows[order[at - 1]]) * width + columns[order[at]] - columns[order[at - 1]];
            sum += step == 1 ? matches.similarity[order[at - 1]] + matches.similarity[order[at]] : 0;
        }
        return sum / Math.max(1, (first ? a : b).filled());
    }
}
