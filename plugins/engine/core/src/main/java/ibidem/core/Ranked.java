package ibidem.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The hits of a window in rank order.
 *
 * @param rows what they are called, and what grouping needs of them
 * @param places their places in the ranking
 * @param <P> the engine's places
 */
record Ranked<P>(Rows rows, List<P> places) {
    /**
     * Reads a window.
     *
     * @param responses reads the engine's hits
     * @param hits those of the window, perhaps some more
     * @param most how many count
     * @param byScore whether equal scores are put in order by index and id
     */
    static <H, P> Ranked<P> of(ResponseReader<?, H, P> responses, H[] hits, int most, boolean byScore) {
        Rows.Builder builder = new Rows.Builder();
        for (H hit : hits) {
            builder.add(
                    responses.index(hit),
                    id(responses, hit),
                    responses.score(hit),
                    responses.value(hit, PackedField.NAME));
        }
        Rows rows = builder.rows(most, byScore);
        List<P> places = new ArrayList<>(rows.order.length);
        for (int at : rows.order) {
            places.add(responses.place(hits[at]));
        }
        return new Ranked<>(rows, places);
    }

    /** Returns the engine's own id; null where it gave none. */
    private static <H> String id(ResponseReader<?, H, ?> responses, H hit) {
        String id = responses.id(hit);
        Object own = id == null ? responses.value(hit, PackedField.ID) : null;
        return own == null ? id : own.toString();
    }

    /**
     * Lists the rows of a page, each group's lead first.
     *
     * @param page its groups
     * @param stored the documents, as hits hold them
     */
    <H> List<Shown<H, P>> shown(Page page, Map<Name, H> stored) {
        List<Shown<H, P>> shown = new ArrayList<>();
        for (Group group : page.groups()) {
            shown.add(shown(page, group, group.lead(), stored));
            group.following().forEach(row -> shown.add(shown(page, group, row, stored)));
        }
        return shown;
    }

    private <H> Shown<H, P> shown(Page page, Group group, int row, Map<Name, H> stored) {
        Name name = rows.names.get(row);
        H document = stored.get(name);
        return new Shown<>(name.id(), places.get(row), document, page.mark(group, row, document != null));
    }
}
