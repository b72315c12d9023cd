package ibidem.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Records next to indexes that a search reads: manual decisions, and what indexes say of their groups. */
public record Ledgers(LedgerCache<Verdict> overrides, LedgerCache<Way.State> settlements) {
    /** Behind the names of indexes that hold the signatures of others. */
    public static final String SIGNATURES = "-signatures";

    /** Makes the caches of a node. */
    public static Ledgers of() {
        return new Ledgers(
                new LedgerCache<>("overrides", Verdict::of, System::nanoTime),
                new LedgerCache<>("groups", Way.State::of, System::nanoTime));
    }

    /**
     * Returns the existing indexes of ibidem's own next to the names in the request, to the indexes and to their aliases.
     *
     * @param suffix behind their names: empty for records, {@link #SIGNATURES} for signatures
     */
    public static Set<String> find(
            String[] names,
            Collection<String> indexes,
            Function<String, Collection<String>> aliases,
            String suffix,
            Predicate<String> exists) {
        return Stream.of(
                        Arrays.stream(names),
                        indexes.stream(),
                        indexes.stream().flatMap(index -> aliases.apply(index).stream()))
                .flatMap(each -> each)
                .map(name -> ".ibidem-" + name + suffix)
                .filter(exists)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
