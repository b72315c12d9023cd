package ibidem.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One group of a page, as it is shown.
 *
 * @param id its name
 * @param first row of its first occurrence, which gives it its place
 * @param lead row of the member that is shown as its lead
 * @param duplicates rows of the others, in rank order
 * @param limit how many of these are shown
 */
record Group(String id, int first, int lead, List<Integer> duplicates, int limit) {
    /** Returns how many members are known, the lead included. */
    public int size() {
        return 1 + duplicates.size();
    }

    /** Returns the duplicates that are shown. */
    public List<Integer> followers() {
        return duplicates.subList(0, limit);
    }

    /** Arranges the groups of a page. */
    static List<Group> arrange(Window window, int[] leads, Request request) {
        Map<Integer, List<Integer>> members = new HashMap<>();
        for (int lead : leads) {
            members.put(lead, new ArrayList<>());
        }
        for (int row = 0; row < window.size; row++) {
            List<Integer> rows = members.get(window.grouping.lead[row]);
            if (rows != null) {
                rows.add(row);
            }
        }
        List<Group> groups = new ArrayList<>();
        for (int lead : leads) {
            groups.add(arrange(window, lead, members.get(lead), request));
        }
        return groups;
    }

    /** Arranges one group; its lead is chosen among those of the step of the window in which it began. */
    private static Group arrange(Window window, int first, List<Integer> rows, Request request) {
        int end = Math.min(window.size, (first / request.window() + 1) * request.window());
        int lead = request.keep()
                .lead(window.packed, rows.stream().filter(row -> row < end).toList());
        List<Integer> duplicates = rows.stream().filter(row -> row != lead).toList();
        int most = request.most() == null ? duplicates.size() : Math.min(duplicates.size(), request.most());
        return new Group(window.group(first), first, lead, duplicates, most);
    }
}
