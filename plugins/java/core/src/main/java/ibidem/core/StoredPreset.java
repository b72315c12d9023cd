package ibidem.core;

import java.util.Map;

/**
 * A named set of figures for the decision that is stored with an index.
 *
 * @param name its name
 * @param policy its figures
 */
public record StoredPreset(String name, Policy policy) {
    /** Reads a record of the ledger; null where it is none. */
    public static StoredPreset of(Map<String, ?> record) {
        if (!(record.get("name") instanceof String name) || !(record.get("policy") instanceof Map<?, ?> figures)) {
            return null;
        }
        Map<?, ?> rule = part(figures, "learned");
        Learned learned = rule == null ? null : Learned.of(rule);
        return rule != null && learned == null ? null : new StoredPreset(name, policy(figures, learned));
    }

    private static Policy policy(Map<?, ?> figures, Learned learned) {
        Policy base = Policy.DEFAULT;
        Map<?, ?> slots = part(figures, "slots");
        Map<?, ?> terms = part(figures, "terms");
        Map<?, ?> fingerprint = part(figures, "fingerprint");
        Map<?, ?> contained = part(figures, "contained");
        return new Policy(
                base.level(),
                integer(figures, "window_days"),
                slots == null ? null : integer(slots, "equal"),
                slots == null ? null : integer(slots, "long"),
                terms == null
                        ? null
                        : new Policy.Terms(
                                number(terms, "share"),
                                flag(terms, "full"),
                                integer(terms, "smallest"),
                                number(terms, "lengths"),
                                flag(terms, "numbers")),
                fingerprint == null
                        ? null
                        : new Policy.Fingerprint(number(fingerprint, "lengths"), integer(fingerprint, "shortest")),
                number(figures, "profile"),
                characters(part(figures, "characters")),
                contained == null
                        ? null
                        : new Policy.Contained(number(contained, "share"), integer(contained, "shortest")),
                number(figures, "related"),
                learned);
    }

    private static Policy.Characters characters(Map<?, ?> figures) {
        return figures == null
                ? null
                : new Policy.Characters(
                        number(figures, "share"),
                        number(figures, "unknown"),
                        number(figures, "numbers"),
                        number(figures, "lengths"),
                        number(figures, "lift"),
                        flag(figures, "few"),
                        pairs(integer(figures, "pairs")),
                        distant(number(figures, "distant")),
                        misread(number(figures, "misread")),
                        misread(number(figures, "misread_dense")));
    }

    /** Returns how many pairs of slots are required; older stored presets lack this figure. */
    private static int pairs(Integer pairs) {
        return pairs == null ? Policy.DEFAULT.characters().pairs() : pairs;
    }

    private static double distant(Double distant) {
        return distant == null ? Policy.DEFAULT.characters().distant() : distant;
    }

    private static double misread(Double share) {
        return share == null ? Policy.NOISY : share;
    }

    private static Map<?, ?> part(Map<?, ?> figures, String name) {
        return figures.get(name) instanceof Map<?, ?> part ? part : null;
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
}
