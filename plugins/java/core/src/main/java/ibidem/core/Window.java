package ibidem.core;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A window of hits with its groups, and the evidence for each row in it. */
record Window(
        List<Name> names,
        Packed[] packed, // null for a hit that is not signed
        Policy policy,
        AppliedOverrides overrides,
        int[] lead, // the first row of each row's group; its own for a lead
        boolean[] crowded, // whether a lead was not compared with all that share a value with it
        Map<Integer, String> groups, // their names, by their first row; empty where they are named after that
        int size) { // how many rows count: those behind them were read and belong to no page so far
    /** Makes a window whose groups are known. */
    static Window known(
            Rows<?> rows, Policy policy, Collection<Verdict> words, int[] lead, Map<Integer, String> groups) {
        AppliedOverrides overrides = AppliedOverrides.of(words, rows.names, rows.packed);
        boolean[] crowded = new boolean[lead.length];
        return new Window(rows.names, rows.packed, policy, overrides, lead, crowded, groups, lead.length);
    }

    /** Groups hits. */
    static Window of(Rows<?> rows, Policy policy, Collection<Verdict> words) {
        AppliedOverrides overrides = AppliedOverrides.of(words, rows.names, rows.packed);
        Grouping made = Grouping.of(rows.packed, policy, overrides);
        int size = rows.packed.length;
        return new Window(rows.names, rows.packed, policy, overrides, made.lead, made.crowded, Map.of(), size);
    }

    /** Returns the first rows of the window; their groups are the same without later rows. */
    Window first(int rows) {
        return new Window(names, packed, policy, overrides, lead, crowded, groups, Math.min(rows, size));
    }

    Name name(int row) {
        return names.get(row);
    }

    /** Returns the name of the group of a row. */
    String group(int row) {
        String name = groups.get(lead[row]);
        return name == null ? Hashes.group(name(lead[row]), policy.level()) : name;
    }

    /** Returns the evidence that two rows are duplicates: of the signatures, or else of a manual decision. */
    Decision.Evidence evidence(int row, int other) {
        Verdict word = overrides.between(row, other);
        if (word != null && !word.same()) {
            return null;
        }
        Decision.Evidence evidence = Decision.evidence(packed[row], packed[other], policy);
        return evidence == null && word != null ? word.evidence(policy.level()) : evidence;
    }

    /** Returns the first rows of its groups. */
    int[] leads() {
        return IntStream.range(0, size).filter(row -> lead[row] == row).toArray();
    }
}
