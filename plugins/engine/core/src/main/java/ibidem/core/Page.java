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
    private final List<Map<String, Object>> late = new ArrayList<>();
    private final int deepest;

    Page(Window window, Request request, Pages pages, int page, int deepest) {
        this.window = window;
        this.request = request;
        this.deepest = deepest;
        groups = Group.arranged(window, pages.leads(page), request);
        for (Pages.Late each : pages.late(page)) {
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("index", window.name(each.row()).index());
            told.put("id", window.name(each.row()).id());
            told.put("group", window.group(window.grouping.lead[each.row()]));
            told.put("page", each.page());
            late.add(told);
        }
    }

    /** Asks for the long signatures that explain each duplicate. */
    public void wantLong() {
        groups.stream().filter(group -> group.size() > 1).forEach(group -> {
            window.wantLong(List.of(group.lead()));
            window.wantLong(group.following());
        });
    }

    public List<Group> groups() {
        return groups;
    }

    /** Returns the rows that are shown, each group's lead first. */
    public List<Integer> listed() {
        List<Integer> rows = new ArrayList<>();
        for (Group group : groups) {
            rows.add(group.lead());
            rows.addAll(group.following());
        }
        return rows;
    }

    /**
     * Returns the {@code _dedupe} mark of a hit.
     *
     * @param group its group
     * @param row its row
     * @param there whether the document is still in the index
     */
    public Map<String, Object> mark(Group group, int row, boolean there) {
        Map<String, Object> mark = new LinkedHashMap<>();
        mark.put("group", group.id());
        mark.put("indent", row == group.lead() ? 0 : 1);
        mark.put("size", group.size());
        mark.put("shown", 1 + group.shown());
        mark.put("hidden", group.size() - 1 - group.shown());
        for (String name : new String[] {"level", "score", "of", "why"}) {
            mark.put(name, null);
        }
        List<String> notes = notes(group, row);
        if (row != group.lead()) {
            reason(group, row, mark, notes);
        }
        if (!there) {
            notes.add("no longer in the index");
        }
        if (!notes.isEmpty()) {
            mark.put("notes", notes);
        }
        return mark;
    }

    /** Returns why a duplicate is one: against the lead that is shown, else against the first occurrence. */
    private void reason(Group group, int row, Map<String, Object> mark, List<String> notes) {
        int of = group.lead();
        Evidence evidence = window.evidence(row, of);
        if (evidence == null) {
            notes.add("would not pass against " + window.name(of).id() + " alone");
            of = group.first();
            evidence = window.evidence(row, of);
        }
        if (evidence != null) {
            mark.put("level", evidence.level().word());
            mark.put("score", evidence.score());
            mark.put("of", window.name(of).id());
            mark.put("why", request.explain() ? evidence.why() : null);
        }
    }

    /** Returns what manual decisions say of a hit beyond its evidence. */
    private List<String> notes(Group group, int row) {
        List<String> notes = new ArrayList<>();
        for (AppliedOverrides.Word each : window.overrides.about(row)) {
            if (each.other() >= window.size) {
                continue;
            }
            String named = window.name(each.other()).id();
            String theirs = window.group(window.grouping.lead[each.other()]);
            if (each.holds() && each.word().same() && !theirs.equals(group.id())) {
                notes.add("declared same as " + named + ", group " + theirs);
            } else if (request.explain()) {
                notes.add(each.word().note(named, each.holds()));
            }
        }
        return notes;
    }

    /**
     * The result of a search.
     *
     * @param matched documents that match the query
     * @param whole whether it came to its end in time
     * @param missing whether a hit of the window was never signed
     * @param tookMillis since the request came
     * @param by who did it
     */
    public record Searched(long matched, boolean whole, boolean missing, long tookMillis, String by) {}

    /** Returns the account of the answer, which adds up. */
    public Map<String, Object> account(Searched searched) {
        int inWindow = window.size;
        int leads = window.leads();
        long beyond = Math.max(0, searched.matched() - inWindow);
        Map<String, Object> told = request.asked();
        Counted counted = new Counted(window);
        told.put(
                "documents",
                ordered(
                        "matched",
                        inWindow + beyond,
                        "in_window",
                        inWindow,
                        "beyond_window",
                        beyond,
                        "on_page",
                        listed().size()));
        told.put(
                "groups",
                ordered("in_window", leads, "on_page", groups.size(), "exact", beyond == 0 && searched.whole()));
        told.put("limited", beyond > 0 && inWindow >= deepest);
        told.put("duplicates", inWindow - leads);
        told.put("unsigned", counted.unsigned());
        told.put("crowded", counted.crowded());
        told.put("too_short", counted.tooShort());
        told.put("mixed_tables", counted.mixedTables());
        told.put("only_counted", List.of());
        told.put("found_by_scope", 0);
        told.put("capped", List.of());
        told.put("late", late);
        told.put("cursor", "");
        told.put("took_ms", searched.tookMillis());
        told.put("tables", new LinkedHashMap<>(counted.tables()));
        told.put("by", searched.by());
        if (request.facets()) {
            told.put("facets", Facets.of(window));
        }
        if (searched.missing()) {
            told.put("remedy", "sign them with: ibidem backfill");
        }
        return told;
    }

    private static Map<String, Object> ordered(Object... pairs) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            made.put((String) pairs[i], pairs[i + 1]);
        }
        return made;
    }

    /** Returns the names of the documents that are shown. */
    public Set<Name> names() {
        Set<Name> names = new LinkedHashSet<>();
        listed().forEach(row -> names.add(window.name(row)));
        return names;
    }
}
