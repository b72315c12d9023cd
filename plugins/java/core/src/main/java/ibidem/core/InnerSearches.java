package ibidem.core;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The searches that a grouped search is made of, each sent as the caller and under the caller's task.
 *
 * <p>When one of them fails, or the code that reads its response, the grouped search fails.
 *
 * @param <R> the engine's responses
 * @param <H> their hits
 * @param <P> a hit's place in the ranking
 */
public interface InnerSearches<R, H, P> {
    /** Returns the searched indexes; empty if only hits name them. */
    List<String> indexes();

    /** Returns the most hits that a window of these indexes may hold. */
    int deepest();

    /** Returns whether the engine orders by score and by nothing else, so that equal places are put in order here. */
    boolean byScoreAlone();

    /** Returns whether the top of each shard is ranked again, so that another depth may be another ranking. */
    boolean isRescored();

    /** Returns a key that identifies the caller. */
    String caller();

    /**
     * Returns the existing indexes of records next to the searched indexes.
     *
     * @param indexes the indexes of the hits
     */
    Set<String> ledgers(Collection<String> indexes);

    void window(Depth depth, Consumer<R> next);

    /** Reads documents as they are shown, those that still match. */
    void documents(Set<Name> names, Consumer<R> next);

    /**
     * Reads the packed values of documents from the indexes of signatures beside theirs. There are none where no such
     * index exists or the caller may not read it.
     */
    void signatures(List<Name> names, Consumer<List<byte[]>> next);

    /** Reads the documents of groups that shards know in part. */
    void members(Set<String> groups, Consumer<FoundGroups<H>> next);

    /** Reads records next to indexes; empty if they are missing or the caller may not read them. */
    void records(LedgerCache.Slice slice, Consumer<LedgerCache.Batch> next);

    /** Runs a computation on a thread for searches; its response stays valid for so long. */
    void compute(R response, Runnable task);

    /** Throws the engine's exception where the caller's task is cancelled. */
    void checkNotCancelled();

    void answer(ResultList<H, P> list);
}
