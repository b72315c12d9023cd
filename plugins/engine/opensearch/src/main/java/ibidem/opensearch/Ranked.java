package ibidem.opensearch;

import ibidem.core.PackedField;
import ibidem.core.Rows;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.SearchHit;

/**
 * The hits of a window in rank order.
 *
 * @param rows what they are called, and what grouping needs of them
 * @param hits the engine's
 */
record Ranked(Rows rows, SearchHit[] hits) {
    /**
     * Reads a window.
     *
     * @param found its hits, perhaps some more
     * @param most how many count
     * @param byScore whether equal scores are put in order by index and id
     */
    static Ranked of(SearchHit[] found, int most, boolean byScore) {
        Rows.Builder builder = new Rows.Builder();
        for (SearchHit hit : found) {
            DocumentField packed = hit.field(PackedField.NAME);
            builder.add(hit.getIndex(), id(hit), hit.getScore(), packed == null ? null : packed.getValue());
        }
        Rows rows = builder.rows(most, byScore);
        SearchHit[] hits = new SearchHit[rows.order.length];
        for (int row = 0; row < hits.length; row++) {
            hits[row] = found[rows.order[row]];
        }
        return new Ranked(rows, hits);
    }

    /** Returns the engine's own id; null where it gave none. */
    private static String id(SearchHit hit) {
        DocumentField own = hit.field(PackedField.ID);
        return hit.getId() != null || own == null ? hit.getId() : own.getValue().toString();
    }
}
