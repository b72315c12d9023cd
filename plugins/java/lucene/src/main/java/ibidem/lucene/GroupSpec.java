package ibidem.lucene;

/**
 * What a search asks the groups of a shard for.
 *
 * @param field what the documents of a group share
 * @param from how many groups are left out at the beginning
 * @param groups how many follow
 * @param members how many documents of a group are shown at most
 * @param scored whether each match is scored, beside what the order needs
 * @param shards how many shards are searched
 */
public record GroupSpec(String field, int from, int groups, int members, boolean scored, int shards) {
    /** Returns whether other shards may have documents of the same groups. */
    public boolean keyed() {
        return shards != 1;
    }
}
