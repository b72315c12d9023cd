package ibidem.lucene;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/** Counts of matches by group, of which other shards may have some: they are merged by hashes of the groups. */
public final class KeyCounts {
    private static final int MOST = 40_000;

    private final Map<LeafReaderContext, int[]> counts = new LinkedHashMap<>();
    private final String field;

    /** @param field what the documents of a group share */
    public KeyCounts(String field) {
        this.field = field;
    }

    /** Counts a document of a segment. */
    public interface Leaf {
        void count(int document) throws IOException;
    }

    /** Counts the documents of a segment. */
    public Leaf leaf(LeafReaderContext leaf) throws IOException {
        SortedSetDocValues values = DocValues.getSortedSet(leaf.reader(), field);
        int[] own = new int[Math.toIntExact(values.getValueCount())];
        counts.put(leaf, own);
        return document -> {
            if (values.advanceExact(document)) {
                own[(int) values.nextOrd()]++;
            }
        };
    }

    /** Takes what another part of the same pass has counted. */
    public void addAll(KeyCounts other) {
        counts.putAll(other.counts);
    }

    /** Returns the counts; null where these are too many groups to be merged. */
    Map<Long, Integer> byHash() throws IOException {
        Map<Long, Integer> all = new HashMap<>();
        for (Map.Entry<LeafReaderContext, int[]> each : counts.entrySet()) {
            SortedSetDocValues values = DocValues.getSortedSet(each.getKey().reader(), field);
            int[] own = each.getValue();
            for (int ordinal = 0; ordinal < own.length; ordinal++) {
                if (own[ordinal] > 0) {
                    all.merge(hash(values.lookupOrd(ordinal)), own[ordinal], Integer::sum);
                    if (all.size() > MOST) {
                        return null;
                    }
                }
            }
        }
        return all;
    }

    static long hash(BytesRef value) {
        return StringHelper.murmurhash3_x64_128(value)[0];
    }
}
