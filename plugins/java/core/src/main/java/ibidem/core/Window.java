package ibidem.core;

import java.util.Collection;
import java.util.List;

/** A window of hits with its groups, and the evidence for each row in it. */
final class Window {
    final List<Name> names;
    final Packed[] packed;
    final Policy policy;
    final AppliedOverrides overrides;
    final Grouping grouping;
    /** How many rows count: those behind them were read and belong to no page so far. */
    final int size;

    private Window(
            List<Name> names, Packed[] packed, Policy policy, AppliedOverrides overrides, Grouping grouping, int size) {
        this.names = names;
        this.packed = packed;
        this.policy = policy;
        this.overrides = overrides;
        this.grouping = grouping;
        this.size = size;
    }

    /**
     * Groups hits.
     *
     * @param names index and id of each, in rank order
     * @param packed their packed values; null for a hit that is not signed
     * @param policy the decision for a pair
     * @param words the manual decisions
     */
    public static Window of(List<Name> names, Packed[] packed, Policy policy, Collection<Verdict> words) {
        AppliedOverrides overrides = AppliedOverrides.of(words, names, packed);
        Grouping grouping = Grouping.of(packed, policy, overrides);
        return new Window(names, packed, policy, overrides, grouping, packed.length);
    }

    /** Returns the first rows of the window; their groups are the same without later rows. */
    Window first(int rows) {
        return rows >= size ? this : new Window(names, packed, policy, overrides, grouping, rows);
    }

    public Name name(int row) {
        return names.get(row);
    }

    String group(int lead) {
        return Hashes.group(name(lead), policy.level());
    }

    /** Returns the evidence that two rows are duplicates: of the signatures, or else of a manual decision. */
    Evidence evidence(int row, int other) {
        Verdict word = overrides.between(row, other);
        if (word != null && !word.same()) {
            return null;
        }
        Evidence evidence = Decision.evidence(packed[row], packed[other], policy);
        return evidence == null && word != null ? word.evidence(policy.level()) : evidence;
    }

    int leads() {
        int leads = 0;
        for (int row = 0; row < size; row++) {
            leads += grouping.leads(row) ? 1 : 0;
        }
        return leads;
    }
}
