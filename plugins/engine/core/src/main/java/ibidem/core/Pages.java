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
    private final Grouping grouping;
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

    /** Returns whether the steps that were read fill a page. */
    boolean fills(int page) {
        return fewestSteps(page) >= 0;
    }

    private int fewestSteps(int page) {
        int last = page * size;
        if (last <= 0) {
            return 0;
        }
        return last <= leads.length ? leads[last - 1] / step + 1 : -1;
    }

    /** Returns how many steps a page uses: the steps it needs, or all if they do not fill it. */
    int steps(int page) {
        int steps = fewestSteps(page);
        return steps < 0 ? steps() : steps;
    }

    /** Returns the first occurrences of a page's groups. */
    int[] leads(int page) {
        int from = Math.min(leads.length, (page - 1) * size);
        return Arrays.copyOfRange(leads, from, Math.min(leads.length, page * size));
    }

    /** A row that a page's own steps add to a group of an earlier page. */
    record Addition(int row, int page) {}

    /** Returns the rows that a page's own steps add to groups of earlier pages. */
    List<Addition> additions(int page) {
        List<Addition> occurrences = new ArrayList<>();
        int end = Math.min(rows, steps(page) * step);
        for (int row = Math.min(end, steps(page - 1) * step); row < end; row++) {
            int place = Arrays.binarySearch(leads, grouping.lead[row]);
            if (!grouping.leads(row) && place >= 0 && place < (page - 1) * size) {
                occurrences.add(new Addition(row, place / size + 1));
            }
        }
        return occurrences;
    }
}
