package ibidem.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/** Counts of matches by group, of which other shards may have some: they are merged by hashes of the groups. */
final class KeyCounts {
    private static final int MOST = 40_000;

    private final List<Leaf> leaves = new ArrayList<>();
    private final String field;
    private final LongConsumer memory;

    KeyCounts(String field, LongConsumer memory) {
        this.field = field;
        this.memory = memory;
    }

    /** Counts the documents of a segment, by their ordinals. */
    record Leaf(SortedSetDocValues values, int[] counts) {
        void count(int document) throws IOException {
            if (values.advanceExact(document)) {
                counts[(int) values.nextOrd()]++;
            }
        }
    }

    Leaf leaf(LeafReaderContext context) throws IOException {
        SortedSetDocValues values = DocValues.getSortedSet(context.reader(), field);
        memory.accept(Integer.BYTES * values.getValueCount());
        Leaf leaf = new Leaf(values, new int[Math.toIntExact(values.getValueCount())]);
        leaves.add(leaf);
        return leaf;
    }

    /** Returns the counts of all parts of a pass; null where these are too many groups to be merged. */
    static Map<Long, Integer> byHash(Collection<KeyCounts> parts) throws IOException {
        Map<Long, Integer> all = new HashMap<>();
        for (KeyCounts part : parts) {
            for (Leaf leaf : part.leaves) {
                for (int ordinal = 0; ordinal < leaf.counts.length; ordinal++) {
                    if (leaf.counts[ordinal] > 0) {
                        all.merge(hash(leaf.values.lookupOrd(ordinal)), leaf.counts[ordinal], Integer::sum);
                        if (all.size() > MOST) {
                            return null;
                        }
                    }
                }
            }
        }
        return all;
    }

    static long hash(BytesRef value) {
        long first = StringHelper.murmurhash3_x86_32(value, 0);
        return first << Integer.SIZE | Integer.toUnsignedLong(StringHelper.murmurhash3_x86_32(value, (int) ~first));
    }
}
