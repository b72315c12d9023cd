package ibidem.core;

import java.util.Arrays;

/** Parts of a search that cannot be combined with groups, each with the reason and the remedy. */
public enum Refusal {
    SCROLL("scroll", "scroll pages are counted in hits and would split groups", "use from and size"),
    OTHER_CLUSTERS("a search over other clusters", "their indexes cannot be inspected", "use one search per cluster"),
    COLLAPSE(
            "collapse",
            "hits that it hides would be missing from every group",
            "leave it out: \"dedupe\": \"collapse\" shows one hit of a group"),
    SEARCH_AFTER(
            "search_after",
            "pages are counted in groups, so the sort values of the last hit do not mark where a page ends",
            "use from and size, with a point in time so that all pages see one ranking"),
    SLICE("slice", "copies of one text lie in different slices", "leave it out"),
    SUB_SEARCHES(
            "rank or sub_searches",
            "this server does not read them as a retriever, which could be made deeper",
            "write retriever: {rrf: {retrievers: [{standard: {query: …}}, …]}}, which ranks in the same way"),
    DERIVED(
            "derived fields inside a request",
            "the requests for window and page would not have them",
            "put them into the mapping"),
    TERMINATE_AFTER(
            "terminate_after",
            "documents that are not read would be missing from the counts",
            "leave it out, or use timeout"),
    EXPLAINED_RESCORE(
            "explain with rescore", "the explanation of a hit would lack its second score", "leave one of them out"),
    NO_FIELDS("stored_fields=_none_", "documents cannot be distinguished without ids", "use \"_source\": false");

    private final String problem;
    private final String remedy;

    Refusal(String what, String why, String remedy) {
        problem = what + " cannot be combined with dedupe: " + why;
        this.remedy = remedy;
    }

    public void refuseIf(boolean isThere) {
        if (isThere) {
            throw new UsageException(problem, remedy);
        }
    }

    /** Returns whether one of these names of indexes is that of an index in another cluster. */
    public static boolean nameOtherClusters(String... indexes) {
        return Arrays.stream(indexes).anyMatch(name -> name.indexOf(':') >= 0 && !name.startsWith("<"));
    }

    /**
     * Refuses a page that no groups fall on.
     *
     * @throws UsageException it lies too deep
     */
    public static void checkPage(int from, int size) {
        if (from >= Request.DEEPEST || size > Request.DEEPEST) {
            throw new UsageException(
                    "from=" + from + " with size=" + size + " lies beyond the first 10,000 groups",
                    "narrow the query, or add a filter");
        }
    }
}
