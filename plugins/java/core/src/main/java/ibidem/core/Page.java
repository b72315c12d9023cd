package ibidem.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A page of groups: its documents, their {@code _dedupe} marks, and the account. */
final class Page {
    private final Window window;
    private final Request request;
    private final List<Group> groups;
    private final List<Map<String, Object>> additions = new ArrayList<>();
    private final int deepest;

    Page(Window window, Request request, Pages pages, int start, int deepest) {
        this.window = window;
        this.request = request;
        this.deepest = deepest;
        groups = Group.arrange(window, pages.leads(start), request);
        for (Pages.Addition each : pages.additions(start)) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("index", window.name(each.row()).index());
            entry.put("id", window.name(each.row()).id());
            entry.put("group", window.group(window.grouping.lead()[each.row()]));
            entry.put("page", each.page());
            additions.add(entry);
        }
    }

    Page(Window window, Request request, List<Group> groups) {
        this.window = window;
        this.request = request;
        this.groups = groups;
        deepest = 0;
    }

    public List<Group> groups() {
        return groups;
    }

    /** Returns the rows that are shown, each group's lead first. */
    public List<Integer> rows() {
        List<Integer> rows = new ArrayList<>();
        for (Group group : groups) {
            rows.add(group.lead());
            rows.addAll(group.followers());
        }
        return rows;
    }

    /**
     * Returns the {@code _dedupe} mark of a hit.
     *
     * @param group its group
     * @param row its row
     * @param exists whether the document is still in the index
     */
    public Map<String, Object> mark(Group group, int row, boolean exists) {
        Map<String, Object> mark = new LinkedHashMap<>();
        mark.put("group", group.id());
        mark.put("indent", row == group.lead() ? 0 : 1);
        mark.put("size", group.size());
        mark.put("shown", 1 + group.limit());
        mark.put("hidden", group.size() - 1 - group.limit());
        for (String name : new String[] {"level", "score", "of", "why"}) {
            mark.put(name, null);
        }
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

    /** Returns why a duplicate is one: against the lead that is shown, else against the first occurrence. */
    private void reason(Group group, int row, Map<String, Object> mark, List<String> notes) {
        int target = group.lead();
        Evidence evidence = window.evidence(row, target);
        if (evidence == null) {
            notes.add("would not pass against " + window.name(target).id() + " alone");
            target = group.first();
            evidence = window.evidence(row, target);
        }
        if (evidence != null) {
            mark.put("level", evidence.level().word());
            mark.put("score", evidence.score());
            mark.put("of", window.name(target).id());
            mark.put("why", request.explain() ? evidence.why() : null);
        }
    }

    /** Returns the manual decisions on a hit beyond its evidence. */
    private List<String> notes(Group group, int row) {
        List<String> notes = new ArrayList<>();
        for (AppliedOverrides.Word each : window.overrides.about(row)) {
            if (each.other() >= window.size) {
                continue;
            }
            String otherId = window.name(each.other()).id();
            String otherGroup = window.group(window.grouping.lead()[each.other()]);
            if (each.holds() && each.word().same() && !otherGroup.equals(group.id())) {
                notes.add("declared same as " + otherId + ", group " + otherGroup);
            } else if (request.explain()) {
                notes.add(each.word().note(otherId, each.holds()));
            }
        }
        return notes;
    }

    /**
     * The result of a search.
     *
     * @param total documents that match the query
     * @param whole whether it came to its end in time
     * @param missing whether a hit of the window was never signed
     * @param tookMillis since the request came
     */
    public record Outcome(long total, boolean whole, boolean missing, long tookMillis) {}

    /** Returns the account of the answer, which adds up. */
    public Map<String, Object> account(Outcome outcome) {
        int inWindow = window.size;
        int leads = window.leads();
        long beyond = Math.max(0, outcome.total() - inWindow);
        Map<String, Object> account = request.account();
        Counts counts = new Counts(window);
        account.put(
                "documents",
                map(
                        "matched",
                        inWindow + beyond,
                        "in_window",
                        inWindow,
                        "beyond_window",
                        beyond,
                        "on_page",
                        rows().size()));
        account.put(
                "groups", map("in_window", leads, "on_page", groups.size(), "exact", beyond == 0 && outcome.whole()));
        account.put("limited", beyond > 0 && inWindow >= deepest);
        account.put("duplicates", inWindow - leads);
        account.put("unsigned", counts.unsigned());
        account.put("crowded", counts.crowded());
        account.put("too_short", counts.tooShort());
        account.put("mixed_tables", counts.mixedTables());
        account.put("found_by_scope", 0);
        account.put("capped", List.of());
        account.put("late", additions);
        account.put("cursor", "");
        account.put("took_ms", outcome.tookMillis());
        account.put("tables", new LinkedHashMap<>(counts.tables()));
        if (request.facets()) {
            account.put("facets", Facets.of(window));
        }
        if (outcome.missing()) {
            account.put("remedy", "sign them with: ibidem backfill");
        }
        return account;
    }

    /** Returns the account of a page of groups of all matches. */
    Map<String, Object> account(FoundGroups<?> found, boolean missing, long tookMillis) {
        long matched = found.matches();
        Map<String, Object> account = account(new Outcome(window.size, true, missing, tookMillis));
        account.put(
                "documents",
                map("matched", matched, "in_window", matched, "beyond_window", 0, "on_page", rows().size()));
        Map<String, Object> counts = map("matching", found.groups(), "in_window", found.groups());
        counts.putAll(map("on_page", groups.size(), "exact", found.exact(), "counted", true));
        account.put("groups", counts);
        account.put("duplicates", matched - found.groups());
        return account;
    }

    private static Map<String, Object> map(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }

    /** Returns the names of the documents that are shown. */
    public Set<Name> names() {
        Set<Name> names = new LinkedHashSet<>();
        rows().forEach(row -> names.add(window.name(row)));
        return names;
    }
}
