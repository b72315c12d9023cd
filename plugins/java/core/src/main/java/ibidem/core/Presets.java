package ibidem.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Named sets of figures for the decision. */
public final class Presets {
    private static final int SIX_WEEKS = 42;

    /** Every preset by its name. */
    public static final Map<String, Policy> ALL = all();

    private Presets() {}

    private static Map<String, Policy> all() {
        Policy base = Policy.DEFAULT;
        Policy.Terms terms = base.terms();
        Map<String, Policy> presets = new LinkedHashMap<>();
        presets.put("news", base.within(SIX_WEEKS));
        presets.put("law", with(base, 25, new Policy.Terms(terms.share(), true, terms.smallest(), 0.5, true), null));
        presets.put(
                "books",
                with(
                        base,
                        20,
                        new Policy.Terms(terms.share(), true, terms.smallest(), 0.8, true),
                        new Policy.Characters(0.4, 0.08, 0.2, 0.8, 0.6, true, 3, 0.4, Policy.NOISY, Policy.NOISY)));
        presets.put(
                "scans",
                with(
                        base,
                        base.slots(),
                        new Policy.Terms(terms.share(), true, terms.smallest(), 0.8, false),
                        new Policy.Characters(0.2, 0.05, 0.1, 0.8, 1.3, true, 2, 0.3, Policy.NOISY, Policy.NOISY)));
        presets.put(
                "conrad2003",
                new Policy(
                        base.level(),
                        SIX_WEEKS,
                        null,
                        null,
                        new Policy.Terms(0.8, false, 20, 0.8, false),
                        null,
                        null,
                        null));
        return Collections.unmodifiableMap(presets);
    }

    private static Policy with(Policy base, Integer slots, Policy.Terms terms, Policy.Characters characters) {
        Policy.Characters rule = characters == null ? base.characters() : characters;
        return new Policy(base.level(), null, slots, null, terms, base.fingerprint(), base.profile(), rule);
    }
}
