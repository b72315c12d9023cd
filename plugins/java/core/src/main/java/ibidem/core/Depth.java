package ibidem.core;

/**
 * How much of a ranking is read, and which other parts of the answer.
 *
 * @param hits how many
 * @param inFullOrder whether the engine puts equal scores in order by index and id
 * @param first whether it is the first window, which also asks for aggregations and the like
 */
public record Depth(int hits, boolean inFullOrder, boolean first) {}
