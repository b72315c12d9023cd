package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Pages of groups over a window that grows in steps.
 *
 * <p>A page is {@code size} groups in the order of their first occurrences, cut from the fewest steps that hold enough
 * groups; so a page shows the same whether or not a request reads later ones. The additions of a later step to a group
 * of an earlier page are listed on the first page that needed the step.
 */
final class Pages {
    private final Window.Leads grouping;
    private final int rows;
    private final int step;
    private final int size;
    private final int[] leads;

    Pages(Window window, int step, int size) {
        this.grouping = window.grouping;
        this.rows = window.size;
        this.step = step;
        this.size = size;
        int[] occurrences = new int[rows];
        int count = 0;
        for (int row = 0; row < rows; row++) {
            if (grouping.leads(row)) {
                occurrences[count++] = row;
            }
        }
        leads = Arrays.copyOf(occurrences, count);
    }

    private int steps() {
        return -Math.floorDiv(-rows, step);
    }

    /** Returns whether the steps that were read hold so many groups. */
    boolean fill(int groups) {
        return fewestSteps(groups) >= 0;
    }

    private int fewestSteps(int groups) {
        if (groups <= 0) {
            return 0;
        }
        return groups <= leads.length ? leads[groups - 1] / step + 1 : -1;
    }

    /** Returns how many steps a page uses that ends after so many groups: those that hold them, or all. */
    int steps(int groups) {
        int steps = fewestSteps(groups);
        return steps < 0 ? steps() : steps;
    }

    /** Returns the first occurrences of the groups of the page that begins after so many groups. */
    int[] leads(int start) {
        return Arrays.copyOfRange(leads, Math.min(leads.length, start), Math.min(leads.length, start + size));
    }

    /** A row that a page's own steps add to a group of an earlier page, which begins at a multiple of the size. */
    record Addition(int row, int page) {}

    /** Returns the rows that the steps of the page after so many groups add to groups before it. */
    List<Addition> additions(int start) {
        List<Addition> occurrences = new ArrayList<>();
        int end = Math.min(rows, steps(start + size) * step);
        for (int row = Math.min(end, steps(start) * step); row < end; row++) {
            int place = Arrays.binarySearch(leads, grouping.lead()[row]);
            if (!grouping.leads(row) && place >= 0 && place < start) {
                occurrences.add(new Addition(row, place / size + 1));
            }
        }
        return occurrences;
    }
}
