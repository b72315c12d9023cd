package ibidem.lucene;

import org.apache.lucene.search.Sort;

/**
 * What a search asks the groups of a shard for.
 *
 * @param field what the documents of a group share
 * @param from how many groups are left out at the beginning
 * @param groups how many follow
 * @param members how many documents of a group are shown at most
 * @param scored whether each match is scored, beside what the order needs
 * @param keyed whether other shards may have documents of the same groups
 */
public record GroupSpec(String field, int from, int groups, int members, boolean scored, boolean keyed) {
    /** Returns how to pass over the matches. */
    public GroupPass.Spec pass(SharedGroups shared, Sort sort) {
        return new GroupPass.Spec(shared, sort, 0, from + groups, scored);
    }
}
