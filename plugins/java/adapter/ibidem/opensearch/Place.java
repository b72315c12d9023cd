package ibidem.opensearch;

import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchShardTarget;

/** A place in the ranking, copied from a hit that the engine may release. */
record Place(int docId, float score, Object[] sort, SearchShardTarget shard) {
    static Place of(SearchHit hit) {
        return new Place(hit.docId(), hit.getScore(), hit.getSortValues(), hit.getShard());
    }
}
