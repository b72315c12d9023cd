package ibidem.elasticsearch;

import ibidem.core.PackedField;
import ibidem.core.Rows;
import java.util.Arrays;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchShardTarget;

/**
 * The hits of a window in rank order.
 *
 * <p>They are copied, since an answer's hits are let go when it has been looked at.
 *
 * @param rows what they are called, and what grouping needs of them
 * @param places their places in the ranking
 */
record Ranked(Rows rows, Place[] places) {
    /** A place in the ranking. */
    record Place(int docId, float score, Object[] sort, SearchShardTarget shard) {}

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
        Place[] places = Arrays.stream(rows.order)
                .mapToObj(at -> found[at])
                .map(hit -> new Place(hit.docId(), hit.getScore(), hit.getSortValues(), hit.getShard()))
                .toArray(Place[]::new);
        return new Ranked(rows, places);
    }

    /** Returns the engine's own id; null where it gave none. */
    private static String id(SearchHit hit) {
        DocumentField own = hit.field(PackedField.ID);
        return hit.getId() != null || own == null ? hit.getId() : own.getValue().toString();
    }
}
