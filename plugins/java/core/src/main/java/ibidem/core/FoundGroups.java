package ibidem.core;

import java.util.List;

/**
 * The groups of all matches, of which those of a page have their documents.
 *
 * @param matches how many documents match
 * @param groups how many groups these are
 * @param exact whether that is no estimate
 * @param highest the highest score of all
 * @param page the groups of the page, in order
 * @param <H> the engine's hits
 */
public record FoundGroups<H>(long matches, long groups, boolean exact, float highest, List<Found<H>> page) {
    /** Returns the same with other documents of the groups. */
    FoundGroups<H> with(List<Found<H>> more) {
        return new FoundGroups<>(matches, groups, exact, highest, more);
    }

    /**
     * A group.
     *
     * @param name what its documents share; null for a document without a group
     * @param size how many documents match
     * @param hits those that are known, in order
     * @param whole whether these are the best ones, not the first one alone
     * @param <H> the engine's hits
     */
    public record Found<H>(String name, int size, List<H> hits, boolean whole) {}
}
