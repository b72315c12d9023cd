package ibidem.opensearch;

import java.util.Map;
import org.opensearch.search.SearchHit;

/**
 * A document as it is shown.
 *
 * @param id its own
 * @param ranked its place in the ranking
 * @param held the document; null where it is no longer in the index
 * @param mark what is said of it
 */
record Shown(String id, SearchHit ranked, SearchHit held, Map<String, Object> mark) {
    /** Shows a hit that is both. */
    static Shown of(SearchHit hit, Map<String, Object> mark) {
        return new Shown(hit.getId(), hit, hit, mark);
    }

    boolean leads() {
        return Integer.valueOf(0).equals(mark.get("indent"));
    }

    /** Returns how many duplicates its group has. */
    int duplicates() {
        return (Integer) mark.get("size") - 1;
    }
}
