package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Reading a ranking as deep as a page of groups needs: in steps of the window, until the page is filled or the ranking
 * ends.
 *
 * <p>A page is {@code size} groups in the order of their first occurrences, cut from the fewest steps that hold enough
 * groups; so a page shows the same whether or not a request reads later ones. The additions of a later step to a group
 * of an earlier page are listed on the first page that needed the step.
 */
final class Reading {
    private static final int MORE = 20;
    private static final int MORE_SHARE = 10;

    private final Request request;
    private final int start;
    private final int size;
    private final int deepest;
    private int steps;

    /**
     * @param start how many groups come before the page
     * @param size groups on the page; 0 where none are shown
     * @param deepest the most hits that a window may hold
     * @throws UsageException a window that is deeper
     */
    Reading(Request request, int start, int size, int deepest) {
        this.request = request;
        this.start = start;
        this.size = size;
        this.deepest = Math.min(Request.DEEPEST, deepest);
        if (request.window() > this.deepest) {
            throw new UsageException(
                    "window=" + request.window() + " is more than the index allows",
                    "use 1 to " + this.deepest + ", or raise index.max_result_window");
        }
        int target = Math.min(this.deepest, start + size);
        steps = Math.max(1, Math.ceilDiv(target, request.window()));
    }

    /** Returns how many hits to read now. */
    int depth() {
        return (int) Math.min(deepest, (long) steps * request.window());
    }

    /** Returns the same and some more, so that equal scores at the end are put in order here. */
    int depthWithEquals() {
        return Math.min(deepest, depth() + Math.max(MORE, depth() / MORE_SHARE));
    }

    /** Returns whether a window is deep enough for the page; if not, {@link #depth} is deeper from now on. */
    boolean enough(Window window) {
        int groups = window.leads().length;
        if (window.size() < depth() || depth() == deepest || start + size <= groups) {
            return true;
        }
        long target = (long) start + size;
        steps = (int) Math.min(Request.DEEPEST, 2L * steps * target / Math.clamp(groups, 1, Math.max(1, target)));
        return false;
    }

    /**
     * Cuts the page out of a window that is deep enough.
     *
     * @param options how to show it
     */
    Page page(Window window, Request options) {
        int[] leads = window.leads();
        Window used = window.first(Math.max(request.window(), end(window, leads, start + size)));
        int last = Math.min(leads.length, start + size);
        int[] shown = Arrays.copyOfRange(leads, Math.min(leads.length, start), last);
        List<Group> groups = Group.arrange(used, shown, options);
        return new Page(used, options, groups, additions(window, leads), deepest);
    }

    /** Returns where the fewest steps end that hold so many groups; the end of all steps if they do not. */
    private int end(Window window, int[] leads, int groups) {
        int whole = Math.ceilDiv(window.size(), request.window());
        int fewest = groups <= 0 ? 0 : groups <= leads.length ? leads[groups - 1] / request.window() + 1 : whole;
        return fewest * request.window();
    }

    /** Returns the documents that the page's own steps add to groups of earlier pages. */
    private List<Map<String, Object>> additions(Window window, int[] leads) {
        List<Map<String, Object>> additions = new ArrayList<>();
        int end = Math.min(window.size(), end(window, leads, start + size));
        for (int row = end(window, leads, start); row < end; row++) {
            int place = Arrays.binarySearch(leads, window.lead()[row]);
            if (window.lead()[row] != row && place < start) {
                Name name = window.name(row);
                String group = window.group(row);
                additions.add(
                        Members.of("index", name.index(), "id", name.id(), "group", group, "page", place / size + 1));
            }
        }
        return additions;
    }
}
