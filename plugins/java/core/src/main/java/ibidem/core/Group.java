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
 * @param unread how many further ones match
 */
record Group(String id, int first, int lead, List<Integer> duplicates, int limit, int unread) {
    /** Returns how many members are known, the lead included. */
    public int size() {
        return 1 + duplicates.size() + unread;
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
            List<Integer> rows = members.get(window.grouping.lead()[row]);
            if (rows != null) {
                rows.add(row);
            }
        }
        List<Group> groups = new ArrayList<>();
        for (int lead : leads) {
            int end = Math.min(window.size, (lead / request.window() + 1) * request.window());
            groups.add(arrange(window, lead, end, members.get(lead), request, 0));
        }
        return groups;
    }

    /** Arranges the groups of a page that are known, of each the documents that were read. */
    static List<Group> arrange(Window window, Request request, Map<Integer, Integer> sizes) {
        List<Group> groups = new ArrayList<>();
        for (int first = 0; first < window.size; ) {
            List<Integer> rows = new ArrayList<>();
            int row = first;
            for (; row < window.size && window.grouping.lead()[row] == first; row++) {
                rows.add(row);
            }
            groups.add(arrange(window, first, window.size, rows, request, sizes.get(first) - rows.size()));
            first = row;
        }
        return groups;
    }

    /** Arranges one group; its lead is chosen among those of the step of the window in which it began. */
    private static Group arrange(Window window, int first, int end, List<Integer> rows, Request request, int unread) {
        int lead = request.keep()
                .lead(window.packed, rows.stream().filter(row -> row < end).toList());
        List<Integer> duplicates = rows.stream().filter(row -> row != lead).toList();
        int most = request.most() == null ? duplicates.size() : Math.min(duplicates.size(), request.most());
        return new Group(window.group(first), first, lead, duplicates, most, unread);
    }
}
