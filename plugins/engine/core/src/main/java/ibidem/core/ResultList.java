package ibidem.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The response of a grouped search.
 *
 * @param shown the documents, each group's lead first
 * @param highest the highest score of all hits
 * @param collapse whether leads carry their duplicates; else these follow their lead
 * @param account counts that describe the answer
 * @param tookMillis since the request came
 * @param <H> the engine's hits
 * @param <P> the engine's places
 */
public record ResultList<H, P>(
        List<Shown<H, P>> shown, float highest, boolean collapse, Map<String, Object> account, long tookMillis) {
    /** Returns the documents of each group, its lead first. */
    public List<List<Shown<H, P>>> groups() {
        List<List<Shown<H, P>>> groups = new ArrayList<>();
        for (int at = 0; at < shown.size(); ) {
            int end = at + 1;
            while (end < shown.size() && !shown.get(end).leads()) {
                end++;
            }
            groups.add(shown.subList(at, end));
            at = end;
        }
        return groups;
    }
}
