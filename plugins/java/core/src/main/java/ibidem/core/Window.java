package ibidem.core;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A window of hits with its groups, and the evidence for each row in it. */
final class Window {
    final List<Name> names;
    final Packed[] packed;
    final Policy policy;
    final AppliedOverrides overrides;
    final Grouping grouping;
    final LongTexts longs;
    /** How many rows count: those behind them were read and belong to no page so far. */
    final int size;

    private Window(
            List<Name> names,
            Packed[] packed,
            Policy policy,
            AppliedOverrides overrides,
            Grouping grouping,
            LongTexts longs,
            int size) {
        this.names = names;
        this.packed = packed;
        this.policy = policy;
        this.overrides = overrides;
        this.grouping = grouping;
        this.longs = longs;
        this.size = size;
    }

    /**
     * Groups hits.
     *
     * @param names index and id of each, in rank order
     * @param packed their packed values; null for a hit that is not signed
     * @param policy the decision for a pair
     * @param words the manual decisions
     * @param longs long signatures; missing ones are read afterwards, and the window is grouped again
     */
    public static Window of(
            List<Name> names, Packed[] packed, Policy policy, Collection<Verdict> words, LongTexts longs) {
        AppliedOverrides overrides = AppliedOverrides.of(words, names, packed);
        Grouping grouping = Grouping.of(names, packed, policy, overrides, longs);
        return new Window(names, packed, policy, overrides, grouping, longs, packed.length);
    }

    /** Returns the first rows of the window; their groups are the same without later rows. */
    Window first(int rows) {
        return rows >= size ? this : new Window(names, packed, policy, overrides, grouping, longs, rows);
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
        Evidence evidence = addRelation(row, other, Decision.evidence(packed[row], packed[other], policy));
        return evidence == null && word != null ? word.evidence(policy.level()) : evidence;
    }

    /** Adds the relation of two long texts. */
    private Evidence addRelation(int row, int other, Evidence evidence) {
        if (!isLong(row) || !isLong(other)) {
            return evidence;
        }
        Evidence relation = longs.relation(name(row), packed[row], name(other), packed[other], policy);
        if (evidence == null || relation == null) {
            return evidence == null ? relation : evidence;
        }
        Map<String, Object> why = new LinkedHashMap<>(relation.why());
        why.putAll(evidence.why());
        return new Evidence(evidence.level(), evidence.signature(), evidence.score(), why);
    }

    /** Asks for the long signatures of rows, where they matter. */
    void wantLong(List<Integer> rows) {
        rows.stream().filter(this::isLong).map(this::name).forEach(longs::want);
    }

    private boolean isLong(int row) {
        return policy.relates() && packed[row] != null && packed[row].isLong();
    }

    int leads() {
        int leads = 0;
        for (int row = 0; row < size; row++) {
            leads += grouping.leads(row) ? 1 : 0;
        }
        return leads;
    }
}
