package ibidem.lucene;

/** What a search asks the groups of a shard for. */
public record GroupSpec(
        String field, // what the documents of a group share
        int from, // how many groups are left out at the beginning
        int groups, // how many follow
        int members, // documents of a group that are shown at most
        boolean scored, // whether each match is scored, beside what the order needs
        int shards) { // how many are searched
    /** Returns whether other shards may have documents of the same groups. */
    public boolean keyed() {
        return shards != 1;
    }
}
