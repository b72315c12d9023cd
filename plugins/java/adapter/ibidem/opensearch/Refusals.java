package ibidem.opensearch;

import ibidem.core.Refusal;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Finds parts of a search that cannot be combined with groups. */
final class Refusals {
    private Refusals() {}

    /** Returns the part that cannot be combined with groups; null where there is none. */
    static Refusal of(SearchRequest request) {
        if (request.scroll() != null) {
            return Refusal.SCROLL;
        }
        if (Refusal.nameOtherClusters(request.indices())) {
            return Refusal.OTHER_CLUSTERS;
        }
        return request.source() == null ? null : of(request, request.source());
    }

    private static Refusal of(SearchRequest request, SearchSourceBuilder source) {
        if (source.collapse() != null) {
            return Refusal.COLLAPSE;
        }
        if (source.searchAfter() != null) {
            return Refusal.SEARCH_AFTER;
        }
        if (source.slice() != null) {
            return Refusal.SLICE;
        }
        if (Engine.refusal(request) != null) {
            return Engine.refusal(request);
        }
        if (source.terminateAfter() > 0) {
            return Refusal.TERMINATE_AFTER;
        }
        if (source.rescores() != null && Boolean.TRUE.equals(source.explain())) {
            return Refusal.EXPLAINED_RESCORE;
        }
        boolean nameless =
                source.storedFields() != null && !source.storedFields().fetchFields();
        return nameless ? Refusal.NO_FIELDS : null;
    }
}
