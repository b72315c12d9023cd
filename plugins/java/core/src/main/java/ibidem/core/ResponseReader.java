package ibidem.core;

/**
 * Reads an engine's responses.
 *
 * @param <R> its responses
 * @param <H> their hits
 * @param <P> a hit's place in the ranking, which outlives its response
 */
public interface ResponseReader<R, H, P> {
    H[] hits(R response);

    /** Returns how many documents match. */
    long total(R response);

    /** Returns the highest score of all hits. */
    float highest(R response);

    boolean isTimedOut(R response);

    String index(H hit);

    /** Returns the id; null where the request leaves it out. */
    String id(H hit);

    /**
     * Returns the id of a hit of a window, whose request leaves ids out. Its shard sends the id along where the packed
     * value does not name the document; where it does, the shard has looked that id up.
     */
    default String windowId(H hit) {
        if (id(hit) != null) {
            return id(hit);
        }
        Object sent = value(hit, PackedField.ID);
        return sent != null ? sent.toString() : Packed.id(PackedField.read(value(hit, PackedField.NAME)));
    }

    float score(H hit);

    /** Returns the first value of a field; null where the hit has none. */
    Object value(H hit, String field);

    P place(H hit);
}
