package ibidem.opensearch;

import ibidem.core.Refusal;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Looks what of a search does not go with groups. */
final class Refusals {
    private Refusals() {}

    /** Returns what does not go with groups; null where nothing speaks against them. */
    static Refusal of(SearchRequest request) {
        if (request.scroll() != null) {
            return Refusal.SCROLL;
        }
        if (Refusal.nameOtherClusters(request.indices())) {
            return Refusal.OTHER_CLUSTERS;
        }
        return request.source() == null ? null : of(request.source());
    }

    private static Refusal of(SearchSourceBuilder asked) {
        if (asked.collapse() != null) {
            return Refusal.COLLAPSE;
        }
        if (asked.searchAfter() != null) {
            return Refusal.SEARCH_AFTER;
        }
        if (asked.slice() != null) {
            return Refusal.SLICE;
        }
        if (asked.terminateAfter() > 0) {
            return Refusal.TERMINATE_AFTER;
        }
        boolean nameless = asked.storedFields() != null && !asked.storedFields().fetchFields();
        return nameless ? Refusal.NO_FIELDS : null;
    }
}
