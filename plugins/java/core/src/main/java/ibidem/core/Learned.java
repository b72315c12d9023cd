package ibidem.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/** A rule learned from labels, a weighted sum of the figures of {@link PairFigures}: {@code learned.py}. */
public final class Learned {
    private static final String SCHEME = "pf1";

    private final double intercept;
    private final double[] weights;
    private final double[] centres;

    private Learned(double intercept, double[] weights, double[] centres) {
        this.intercept = intercept;
        this.weights = weights;
        this.centres = centres;
    }

    /** Reads a rule as it is stored; null where it was learned on other figures, is incomplete or was changed. */
    static Learned of(Map<?, ?> record) {
        if (!SCHEME.equals(record.get("scheme"))
                || !(record.get("weights") instanceof List<?> entries)
                || entries.size() != PairFigures.NAMES.size()
                || !(record.get("intercept") instanceof Number intercept)) {
            return null;
        }
        double[] weights = new double[entries.size()];
        double[] centres = new double[entries.size()];
        for (int at = 0; at < weights.length; at++) {
            if (!(entries.get(at) instanceof Map<?, ?> entry)
                    || !PairFigures.NAMES.get(at).equals(entry.get("figure"))
                    || !(entry.get("weight") instanceof Number weight)
                    || !(entry.get("centre") instanceof Number centre)) {
                return null;
            }
            weights[at] = weight.doubleValue();
            centres[at] = centre.doubleValue();
        }
        Learned rule = new Learned(intercept.doubleValue(), weights, centres);
        boolean unchanged =
                record.get("checksum") instanceof Number checksum && checksum.longValue() == rule.checksum();
        return unchanged && Double.isFinite(rule.magnitude()) ? rule : null;
    }

    private long checksum() {
        ByteBuffer numbers = ByteBuffer.allocate(Double.BYTES * (1 + 2 * weights.length))
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(intercept);
        for (int at = 0; at < weights.length; at++) {
            numbers.putDouble(weights[at]).putDouble(centres[at]);
        }
        CRC32 crc = new CRC32();
        crc.update(SCHEME.getBytes(StandardCharsets.UTF_8));
        crc.update(numbers.flip());
        return crc.getValue() == 0 ? 1 : crc.getValue();
    }

    /** Returns a number that is finite where all weights and centres are. */
    private double magnitude() {
        double magnitude = intercept * 0;
        for (int at = 0; at < weights.length; at++) {
            magnitude += weights[at] * 0 + centres[at] * 0;
        }
        return magnitude;
    }

    /** Adds up the weighted figures, in their order. */
    double total(double[] figures) {
        double total = intercept;
        for (int at = 0; at < weights.length; at++) {
            total += contribution(at, figures);
        }
        return total;
    }

    private double contribution(int at, double[] figures) {
        return weights[at] * (figures[at] - centres[at]);
    }

    /** Writes the sum, where it starts, and what each part of the figures adds; returns the probability. */
    double put(double[] figures, Map<String, Object> why) {
        Map<String, Object> parts = new LinkedHashMap<>();
        double share = 0;
        for (int at = 0; at < weights.length; at++) {
            String part = PairFigures.PARTS.get(at);
            share = (parts.containsKey(part) ? share : 0) + contribution(at, figures);
            parts.put(part, Decision.round(share, 2));
        }
        double total = total(figures);
        why.put("sum", Decision.round(total, 2));
        why.put("start", Decision.round(intercept, 2));
        why.put("parts", parts);
        return 1 / (1 + Math.exp(-total));
    }
}
