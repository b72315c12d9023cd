package ibidem.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A page of groups: its documents, their {@code _dedupe} marks, and the account.
 *
 * @param additions the documents that the page adds to groups of earlier pages, as the account lists them
 * @param deepest the most hits that the window may hold
 */
record Page(Window window, Request request, List<Group> groups, List<Map<String, Object>> additions, int deepest) {
    /** Tokens in a shingle: a shorter text is one shingle, and only its equals are near it. */
    private static final int SHINGLE = 5;

    /**
     * Returns the {@code _dedupe} mark of a hit.
     *
     * @param exists whether the document is still in the index
     */
    Map<String, Object> mark(Group group, int row, boolean exists) {
        int shown = group.shown().size();
        Map<String, Object> mark = Members.of("group", group.id(), "indent", row == group.lead() ? 0 : 1);
        mark.putAll(Members.of("size", group.size(), "shown", shown, "hidden", group.size() - shown));
        mark.putAll(Members.of("level", null, "score", null, "of", null, "why", null));
        List<String> notes = notes(group, row);
        if (row != group.lead()) {
            reason(group, row, mark, notes);
        }
        if (!exists) {
            notes.add("no longer in the index");
        }
        if (!notes.isEmpty()) {
            mark.put("notes", notes);
        }
        return mark;
    }

    /** Puts why a duplicate is one: against the lead that is shown, else against the first occurrence. */
    private void reason(Group group, int row, Map<String, Object> mark, List<String> notes) {
        int target = group.lead();
        Decision.Evidence evidence = window.evidence(row, target);
        if (evidence == null) {
            notes.add("would not pass against " + window.name(target).id() + " alone");
            target = group.first();
            evidence = window.evidence(row, target);
        }
        if (evidence != null) {
            mark.putAll(Members.of("level", evidence.level().word(), "score", evidence.score()));
            mark.put("of", window.name(target).id());
            mark.put("why", request.explain() ? evidence.why() : null);
        }
    }

    /** Returns the manual decisions on a hit beyond its evidence. */
    private List<String> notes(Group group, int row) {
        List<String> notes = new ArrayList<>();
        for (AppliedOverrides.Word each : window.overrides().about(row)) {
            if (each.other() >= window.size()) {
                continue;
            }
            String otherId = window.name(each.other()).id();
            String otherGroup = window.group(each.other());
            if (each.holds() && each.word().same() && !otherGroup.equals(group.id())) {
                notes.add("declared same as " + otherId + ", group " + otherGroup);
            } else if (request.explain()) {
                notes.add(each.word().note(otherId, each.holds()));
            }
        }
        return notes;
    }

    /**
     * Returns the account of the answer, which adds up.
     *
     * @param total documents that match the query
     * @param whole whether it came to its end in time
     * @param missing whether a hit of the window was never signed
     * @param tookMillis since the request came
     */
    Map<String, Object> account(long total, boolean whole, boolean missing, long tookMillis) {
        int inWindow = window.size();
        int leads = window.leads().length;
        long beyond = Math.max(0, total - inWindow);
        Map<String, Object> account = request.account();
        account.put("documents", documents(inWindow + beyond, beyond));
        account.put("groups", Members.of("in_window", leads, "on_page", groups.size(), "exact", beyond == 0 && whole));
        account.put("limited", beyond > 0 && inWindow >= deepest);
        account.put("duplicates", inWindow - leads);
        account.putAll(Members.of("unsigned", 0, "crowded", 0, "too_short", 0));
        Map<Long, Integer> byTable = new HashMap<>();
        for (int row = 0; row < inWindow; row++) {
            Packed packed = window.packed()[row];
            if (packed == null || !packed.hasWords()) {
                count(account, "unsigned");
            } else if (packed.length < SHINGLE) {
                count(account, "too_short");
            }
            if (window.crowded()[row]) {
                count(account, "crowded");
            }
            if (packed != null && packed.idf != 0) {
                byTable.merge(packed.idf, 1, Integer::sum);
            }
        }
        Map<String, Integer> tables = new TreeMap<>();
        byTable.forEach((idf, count) -> tables.put(Packed.table(idf), count));
        int largest = tables.values().stream().mapToInt(count -> count).max().orElse(0);
        int signed = tables.values().stream().mapToInt(count -> count).sum();
        account.put("mixed_tables", signed - largest);
        account.putAll(Members.of("found_by_scope", 0, "capped", List.of(), "late", additions, "cursor", ""));
        account.putAll(Members.of("took_ms", tookMillis, "tables", tables));
        if (request.facets()) {
            account.put("facets", Facets.of(window));
        }
        if (missing) {
            account.put("remedy", "sign them with: ibidem backfill");
        }
        return account;
    }

    private static void count(Map<String, Object> account, String name) {
        account.merge(name, 1, (all, one) -> (Integer) all + 1);
    }

    /** Returns the account of a page of groups of all matches. */
    Map<String, Object> account(FoundGroups<?> found, boolean missing, long tookMillis) {
        Map<String, Object> account = account(window.size(), true, missing, tookMillis);
        Map<String, Object> counts = Members.of("matching", found.groups(), "in_window", found.groups());
        counts.putAll(Members.of("on_page", groups.size(), "exact", found.exact(), "counted", true));
        account.put("documents", documents(found.matches(), 0));
        account.put("groups", counts);
        account.put("duplicates", found.matches() - found.groups());
        return account;
    }

    private Map<String, Object> documents(long matched, long beyond) {
        int onPage = groups.stream().mapToInt(group -> group.shown().size()).sum();
        return Members.of(
                "matched", matched, "in_window", matched - beyond, "beyond_window", beyond, "on_page", onPage);
    }

    /** Returns the names of the documents that are shown. */
    Set<Name> names() {
        Set<Name> names = new LinkedHashSet<>();
        groups.forEach(group -> group.shown().forEach(row -> names.add(window.name(row))));
        return names;
    }
}
