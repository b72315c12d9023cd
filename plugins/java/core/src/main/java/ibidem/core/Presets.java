package ibidem.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** Named sets of figures for the decision. */
final class Presets {
    private static final int SIX_WEEKS = 42;

    static final Map<String, Policy> ALL = new LinkedHashMap<>(); // every preset by its name

    static {
        Policy base = Policy.DEFAULT;
        ALL.put("news", base.within(SIX_WEEKS));
        ALL.put("law", with(25, 0.5, true, base.characters()));
        ALL.put("books", with(20, 0.8, true, characters(0.4, 0.08, 0.2, 0.6, 3, 0.4)));
        ALL.put("scans", with(base.slots(), 0.8, false, characters(0.2, 0.05, 0.1, 1.3, 2, 0.3)));
        Policy.Terms terms = new Policy.Terms(0.8, false, 20, 0.8, false);
        ALL.put("conrad2003", new Policy(Level.NEAR, SIX_WEEKS, null, null, terms, null, null, null));
    }

    private Presets() {}

    private static Policy with(int slots, double lengths, boolean numbers, Policy.Characters characters) {
        Policy base = Policy.DEFAULT;
        Policy.Terms terms =
                new Policy.Terms(base.terms().share(), true, base.terms().smallest(), lengths, numbers);
        return new Policy(base.level(), null, slots, null, terms, base.fingerprint(), base.profile(), characters);
    }

    private static Policy.Characters characters(
            double share, double unknown, double numbers, double lift, int pairs, double distant) {
        double noisy = Policy.NOISY;
        return new Policy.Characters(share, unknown, numbers, 0.8, lift, true, pairs, distant, noisy, noisy);
    }
}
