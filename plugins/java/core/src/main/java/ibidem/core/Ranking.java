package ibidem.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The hits of a window in rank order.
 *
 * @param rows their names, and their values for grouping
 * @param places their places in the ranking
 * @param <P> the engine's places
 */
record Ranking<P>(Rows rows, List<P> places) {
    /**
     * Reads a window.
     *
     * @param responses reads the engine's hits
     * @param hits those of the window, perhaps some more
     * @param most how many count
     * @param byScore whether equal scores are put in order by index and id
     */
    static <H, P> Ranking<P> of(ResponseReader<?, H, P> responses, H[] hits, int most, boolean byScore) {
        Rows.Builder builder = new Rows.Builder();
        for (H hit : hits) {
            builder.add(
                    responses.index(hit),
                    responses.windowId(hit),
                    responses.score(hit),
                    responses.value(hit, PackedField.NAME));
        }
        Rows rows = builder.rows(most, byScore);
        List<P> places = new ArrayList<>(rows.order.length);
        for (int at : rows.order) {
            places.add(responses.place(hits[at]));
        }
        return new Ranking<>(rows, places);
    }

    /**
     * Lists the rows of a page, each group's lead first.
     *
     * @param page its groups
     * @param documents the documents, as hits hold them
     */
    <H> List<Item<H, P>> items(Page page, Map<Name, H> documents) {
        List<Item<H, P>> items = new ArrayList<>();
        for (Group group : page.groups()) {
            items.add(item(page, group, group.lead(), documents));
            group.followers().forEach(row -> items.add(item(page, group, row, documents)));
        }
        return items;
    }

    private <H> Item<H, P> item(Page page, Group group, int row, Map<Name, H> documents) {
        Name name = rows.names.get(row);
        H document = documents.get(name);
        return new Item<>(name.id(), places.get(row), document, page.mark(group, row, document != null));
    }
}
