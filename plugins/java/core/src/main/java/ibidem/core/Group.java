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
 * @param shown rows that are shown: the member that is its lead, then duplicates in rank order
 * @param size how many members are known, the lead included
 */
record Group(String id, int first, List<Integer> shown, int size) {
    int lead() {
        return shown.get(0);
    }

    /** Arranges the groups of a page. */
    static List<Group> arrange(Window window, int[] leads, Request request) {
        Map<Integer, List<Integer>> members = new HashMap<>();
        for (int lead : leads) {
            members.put(lead, new ArrayList<>());
        }
        for (int row = 0; row < window.size(); row++) {
            List<Integer> rows = members.get(window.lead()[row]);
            if (rows != null) {
                rows.add(row);
            }
        }
        List<Group> groups = new ArrayList<>();
        for (int lead : leads) {
            int end = Math.min(window.size(), (lead / request.window() + 1) * request.window());
            List<Integer> rows = members.get(lead);
            groups.add(arrange(window, end, rows, request, rows.size()));
        }
        return groups;
    }

    /** Arranges the groups of a page that are known, of each the documents that were read. */
    static List<Group> arrange(Window window, Request request, Map<Integer, Integer> sizes) {
        List<Group> groups = new ArrayList<>();
        for (int first = 0; first < window.size(); ) {
            List<Integer> rows = new ArrayList<>();
            int row = first;
            for (; row < window.size() && window.lead()[row] == first; row++) {
                rows.add(row);
            }
            groups.add(arrange(window, window.size(), rows, request, sizes.get(first)));
            first = row;
        }
        return groups;
    }

    /** Arranges one group; its lead is chosen among those of the step of the window in which it began. */
    private static Group arrange(Window window, int end, List<Integer> rows, Request request, int size) {
        int lead = request.keep()
                .lead(window.packed(), rows.stream().filter(row -> row < end).toList());
        List<Integer> shown = new ArrayList<>(List.of(lead));
        int most = request.most() == null ? rows.size() : request.most();
        rows.stream().filter(row -> row != lead).limit(most).forEach(shown::add);
        return new Group(window.group(rows.get(0)), rows.get(0), shown, size);
    }
}
