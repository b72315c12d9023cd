package ibidem.core;

/**
 * Reading a ranking as deep as a page of groups needs: in steps of the window, until the page is filled or the ranking
 * ends.
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
     * @param request how to group
     * @param start how many groups come before the page
     * @param size groups on the page; 0 where none are shown
     * @param deepest the most hits that a window may hold
     * @throws UsageException a window that is deeper
     */
    public Reading(Request request, int start, int size, int deepest) {
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
        steps = Math.max(1, -Math.floorDiv(-target, request.window()));
    }

    /** Returns how many hits to read now. */
    public int depth() {
        return (int) Math.min(deepest, (long) steps * request.window());
    }

    /** Returns the same and some more, so that equal scores at the end are put in order here. */
    public int depthWithEquals() {
        return Math.min(deepest, depth() + Math.max(MORE, depth() / MORE_SHARE));
    }

    /**
     * Returns whether unread hits might rank before a read one: all beyond the window have one score.
     *
     * @param scores those of the hits
     * @param most how many hits the request takes
     */
    public boolean cutAmongEquals(float[] scores, int most) {
        return scores.length >= most && depth() > 0 && scores[scores.length - 1] == scores[depth() - 1];
    }

    /** Returns whether a window is deep enough for the page; if not, {@link #depth} is deeper from now on. */
    public boolean enough(Window window) {
        boolean atEnd = window.size < depth();
        if (atEnd || depth() == deepest || pages(window).fill(start + size)) {
            return true;
        }
        long target = (long) start + size;
        long groups = Math.clamp(window.leads(), 1, Math.max(1, target));
        steps = (int) Math.min(Request.DEEPEST, 2L * steps * target / groups);
        return false;
    }

    private Pages pages(Window window) {
        return new Pages(window, request.window(), size);
    }

    /**
     * Cuts the page out of a window that is deep enough.
     *
     * @param options how to show it
     */
    public Page page(Window window, Request options) {
        Pages pages = pages(window);
        int used = Math.max(1, pages.steps(start + size));
        return new Page(window.first(used * options.window()), options, pages, start, deepest);
    }
}
