package ibidem.core;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The engine below one grouped search: it sends the searches that this is made of, each as the caller and under the
 * caller's task, and reads their responses.
 *
 * <p>When one of them fails, or the code that reads its response, the grouped search fails.
 *
 * @param <R> the engine's responses
 * @param <H> their hits
 * @param <P> a hit's place in the ranking, which outlives its response
 */
public interface InnerSearches<R, H, P> {
    /**
     * How much of a ranking is read, and which other parts of the answer.
     *
     * @param inFullOrder whether the engine puts equal scores in order by index and id
     * @param first whether it is the first window, which also asks for aggregations and the like
     */
    record Depth(int hits, boolean inFullOrder, boolean first) {}

    /** Returns the most hits that a window of these indexes may hold. */
    int deepest();

    /** Returns whether the engine orders by score and by nothing else, so that equal places are put in order here. */
    boolean byScoreAlone();

    /** Returns whether the top of each shard is ranked again, so that another depth may be another ranking. */
    boolean isRescored();

    void window(Depth depth, Consumer<R> next);

    /** Reads documents as they are shown, those that still match. */
    void documents(Set<Name> names, Consumer<R> next);

    /**
     * Reads the packed values of documents from the indexes of signatures beside theirs. There are none where no such
     * index exists or the caller may not read it.
     */
    void signatures(List<Name> names, Consumer<List<byte[]>> next);

    /** Reads the manual decisions on the documents of indexes, of which some name none but their hits do. */
    void overrides(Stream<String> indexesOfHits, Consumer<List<Verdict>> next);

    /** Reads the documents of groups that shards know in part. */
    void members(Set<String> groups, Consumer<FoundGroups<H>> next);

    /** Runs a computation on a thread for searches; its response stays valid for so long. */
    void compute(R response, Runnable task);

    /** Takes memory for a window, or throws the engine's exception where there is too little. */
    void take(long bytes);

    void free(long bytes);

    /** Throws the engine's exception where the caller's task is cancelled. */
    void checkNotCancelled();

    void answer(ResultList<H, P> list);

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
