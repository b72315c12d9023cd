package ibidem.core;

import java.util.List;

/** The groups of all matches, of which those of a page have their documents. */
public record FoundGroups<H>(
        long matches, // how many documents match
        long groups, // how many groups these are
        boolean exact, // whether that is no estimate
        float highest, // the highest score of all
        List<Found<H>> page) {
    /**
     * A group.
     *
     * @param name what its documents share; null for a document without a group
     * @param size how many documents match
     * @param hits those that are known, in order
     * @param whole whether these are the best ones, not the first one alone
     */
    public record Found<H>(String name, int size, List<H> hits, boolean whole) {}
}
