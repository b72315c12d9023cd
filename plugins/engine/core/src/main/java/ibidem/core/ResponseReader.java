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

    float score(H hit);

    /** Returns the first value of a field; null where the hit has none. */
    Object value(H hit, String field);

    P place(H hit);
}
