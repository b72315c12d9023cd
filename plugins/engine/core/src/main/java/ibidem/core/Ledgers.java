package ibidem.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What people keep next to indexes and a search looks at.
 *
 * @param overrides manual decisions
 * @param presets sets of figures for the decision
 */
public record Ledgers(LedgerCache<Verdict> overrides, LedgerCache<StoredPreset> presets) {
    public static final String OVERRIDES = "overrides";
    public static final String PRESETS = "presets";

    /** Makes the caches of a node. */
    public static Ledgers of() {
        return new Ledgers(
                new LedgerCache<>(Verdict::of, System::nanoTime),
                new LedgerCache<>(StoredPreset::of, System::nanoTime));
    }

    /**
     * Returns the ledgers that there are next to indexes.
     *
     * @param kind what they hold
     * @param names what is searched, as the request says it
     * @param indexes the indexes
     * @param exists tells whether there is an index of a name
     */
    public static Set<String> beside(
            String kind, String[] names, Collection<String> indexes, Predicate<String> exists) {
        return Stream.concat(Arrays.stream(names), indexes.stream())
                .map(name -> name + "-ibidem-" + kind)
                .filter(exists)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
