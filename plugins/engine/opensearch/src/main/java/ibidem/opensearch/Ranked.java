package ibidem.opensearch;

import ibidem.core.Group;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.core.Page;
import ibidem.core.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    /**
     * Lists what a page shows, each group's lead first.
     *
     * @param page its groups
     * @param stored the documents, as hits hold them
     */
    List<Shown> shown(Page page, Map<Name, SearchHit> stored) {
        List<Shown> shown = new ArrayList<>();
        for (Group group : page.groups()) {
            shown.add(shown(page, group, group.lead(), stored));
            group.following().forEach(row -> shown.add(shown(page, group, row, stored)));
        }
        return shown;
    }

    private Shown shown(Page page, Group group, int row, Map<Name, SearchHit> stored) {
        Name name = rows.names.get(row);
        SearchHit held = stored.get(name);
        return new Shown(name.id(), hits[row], held, page.mark(group, row, held != null));
    }

    /** Returns the engine's own id; null where it gave none. */
    private static String id(SearchHit hit) {
        DocumentField own = hit.field(PackedField.ID);
        return hit.getId() != null || own == null ? hit.getId() : own.getValue().toString();
    }
}
