package ibidem.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The response of a grouped search. */
public record ResultList<H, P>(
        List<Item<H, P>> items, // the documents, each group's lead first
        float highest, // the highest score of all hits
        boolean collapse, // whether leads carry their duplicates; else these follow their lead
        Map<String, Object> account, // counts that describe the answer
        long tookMillis) { // since the request came
    /**
     * A document as it is shown.
     *
     * @param place its place in the ranking
     * @param document the hit that holds it; null where it is no longer in the index
     * @param mark its {@code _dedupe} mark
     */
    public record Item<H, P>(String id, P place, H document, Map<String, Object> mark) {
        /** Returns how many duplicates its group has. */
        public int duplicates() {
            return (Integer) mark.get("size") - 1;
        }
    }

    /** Returns the documents of each group, its lead first. */
    public List<List<Item<H, P>>> groups() {
        List<List<Item<H, P>>> groups = new ArrayList<>();
        for (Item<H, P> item : items) {
            if (item.mark.get("indent").equals(0)) {
                groups.add(new ArrayList<>());
            }
            groups.getLast().add(item);
        }
        return groups;
    }
}
