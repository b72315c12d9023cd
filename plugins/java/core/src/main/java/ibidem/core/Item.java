package ibidem.core;

import java.util.Map;

/**
 * A document as it is shown.
 *
 * @param id its own
 * @param place its place in the ranking
 * @param document the hit that holds it; null where it is no longer in the index
 * @param mark its {@code _dedupe} mark
 * @param <H> the engine's hits
 * @param <P> the engine's places
 */
public record Item<H, P>(String id, P place, H document, Map<String, Object> mark) {
    boolean leads() {
        return Integer.valueOf(0).equals(mark.get("indent"));
    }

    /** Returns how many duplicates its group has. */
    public int duplicates() {
        return (Integer) mark.get("size") - 1;
    }
}
