package ibidem.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The response of a grouped search.
 *
 * @param items the documents, each group's lead first
 * @param highest the highest score of all hits
 * @param collapse whether leads carry their duplicates; else these follow their lead
 * @param account counts that describe the answer
 * @param tookMillis since the request came
 * @param <H> the engine's hits
 * @param <P> the engine's places
 */
public record ResultList<H, P>(
        List<Item<H, P>> items, float highest, boolean collapse, Map<String, Object> account, long tookMillis) {
    /** Returns the documents of each group, its lead first. */
    public List<List<Item<H, P>>> groups() {
        List<List<Item<H, P>>> groups = new ArrayList<>();
        for (int at = 0; at < items.size(); ) {
            int end = at + 1;
            while (end < items.size() && !items.get(end).leads()) {
                end++;
            }
            groups.add(items.subList(at, end));
            at = end;
        }
        return groups;
    }
}
