package ibidem.elasticsearch;

import ibidem.core.Request;
import ibidem.core.UsageException;
import java.util.Arrays;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.search.builder.SearchSourceBuilder;

/** What a search may not bring when its hits are grouped, each with the reason. */
final class Refusals {
    private static final String NO_FIELDS = "_none_";

    private Refusals() {}

    /** Returns what does not go with groups; null where nothing speaks against them. */
    static UsageException of(SearchRequest request) {
        SearchSourceBuilder asked = request.source();
        if (request.scroll() != null) {
            return refused(
                    "scroll", "its pages are so many hits, and a group would be cut by them", "use from and size");
        }
        if (Arrays.stream(request.indices()).anyMatch(name -> name.indexOf(':') >= 0 && !name.startsWith("<"))) {
            return refused(
                    "a search over other clusters", "their indexes cannot be looked at", "ask each cluster by itself");
        }
        if (asked == null) {
            return null;
        }
        if (asked.collapse() != null) {
            return refused(
                    "collapse",
                    "hits that it hides would be missing from every group",
                    "leave it out: \"dedupe\": \"collapse\" shows one hit of a group");
        }
        if (asked.searchAfter() != null) {
            return refused(
                    "search_after",
                    "a page is so many groups, and the last hit shown says nothing of where they end",
                    "use from and size, with a point in time so that all pages see one ranking");
        }
        if (asked.slice() != null || request.searchSlice() != null) {
            return refused("slice", "copies of one text lie in different slices", "leave it out");
        }
        if (asked.terminateAfter() > 0) {
            return refused(
                    "terminate_after",
                    "what it never looks at would be missing from the account",
                    "leave it out, or use timeout");
        }
        if (asked.retriever() != null
                || asked.rankBuilder() != null
                || asked.subSearches().size() > 1) {
            return refused("a retriever", "it ranks without a window that could grow", "use query, or knn");
        }
        if (asked.storedFields() != null && !asked.storedFields().fetchFields()) {
            return refused(
                    "stored_fields=" + NO_FIELDS,
                    "documents cannot be distinguished without ids",
                    "use \"_source\": false");
        }
        return null;
    }

    /** Refuses a page that no groups fall on. */
    static void checkPage(int from, int size) {
        if (from >= Request.DEEPEST || size > Request.DEEPEST) {
            throw new UsageException(
                    "from=" + from + " with size=" + size + " lies beyond the first 10,000 groups",
                    "narrow the query, or add a filter");
        }
        if (from > 0 && (size == 0 || from % size != 0)) {
            throw refused(
                    "from=" + from + " with size=" + size,
                    "pages are cut from groups",
                    "from is a multiple of size: 0, " + (size == 0 ? 10 : size) + ", …");
        }
    }

    private static UsageException refused(String what, String why, String remedy) {
        return new UsageException(what + " does not go with dedupe: " + why, remedy);
    }
}
