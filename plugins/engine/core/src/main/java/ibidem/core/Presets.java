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
        Map<String, Policy> found = new LinkedHashMap<>();
        found.put("news", base.within(SIX_WEEKS));
        found.put(
                "law",
                new Policy(
                        base.level(),
                        null,
                        25,
                        new Policy.Terms(terms.share(), true, terms.smallest(), 0.5, true),
                        base.fingerprint(),
                        null));
        found.put(
                "books",
                new Policy(
                        base.level(),
                        null,
                        20,
                        new Policy.Terms(terms.share(), true, terms.smallest(), 0.8, true),
                        base.fingerprint(),
                        null));
        found.put(
                "conrad2003",
                new Policy(base.level(), SIX_WEEKS, null, new Policy.Terms(0.8, false, 20, 0.8, false), null, null));
        return Collections.unmodifiableMap(found);
    }
}
