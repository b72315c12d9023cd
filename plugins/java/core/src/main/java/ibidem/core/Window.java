package ibidem.core;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/** A window of hits with its groups, and the evidence for each row in it. */
final class Window {
    final List<Name> names;
    final Packed[] packed;
    final Policy policy;
    final AppliedOverrides overrides;
    final Leads grouping;
    /** The names of groups, by their first row; empty where they are named after that. */
    private final Map<Integer, String> groups;
    /** How many rows count: those behind them were read and belong to no page so far. */
    final int size;

    private Window(
            List<Name> names,
            Packed[] packed,
            Policy policy,
            AppliedOverrides overrides,
            Leads grouping,
            Map<Integer, String> groups,
            int size) {
        this.names = names;
        this.packed = packed;
        this.policy = policy;
        this.overrides = overrides;
        this.grouping = grouping;
        this.groups = groups;
        this.size = size;
    }

    /**
     * How rows are grouped.
     *
     * @param lead the first row of each row's group; its own for a lead
     * @param crowded whether a lead was not compared with all that share a value with it
     */
    record Leads(int[] lead, boolean[] crowded) {
        /** Returns whether a row is the first occurrence of its group. */
        boolean leads(int row) {
            return lead[row] == row;
        }
    }

    /**
     * Makes a window whose groups are known.
     *
     * @param rows the documents
     * @param lead the first row of each one's group
     * @param groups the names of groups, by their first row
     */
    static Window known(Rows rows, Policy policy, Collection<Verdict> words, int[] lead, Map<Integer, String> groups) {
        AppliedOverrides overrides = AppliedOverrides.of(words, rows.names, rows.packed);
        Leads leads = new Leads(lead, new boolean[lead.length]);
        return new Window(rows.names, rows.packed, policy, overrides, leads, groups, lead.length);
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
        Leads leads = new Leads(grouping.lead, grouping.crowded);
        return new Window(names, packed, policy, overrides, leads, Map.of(), packed.length);
    }

    /** Returns the first rows of the window; their groups are the same without later rows. */
    Window first(int rows) {
        return rows >= size ? this : new Window(names, packed, policy, overrides, grouping, groups, rows);
    }

    public Name name(int row) {
        return names.get(row);
    }

    String group(int lead) {
        String name = groups.get(lead);
        return name == null ? Hashes.group(name(lead), policy.level()) : name;
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
