package ibidem.lucene;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.OrdinalMap;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.packed.PackedInts;

/**
 * Which documents of a reader share their group with another one, deleted or not, and the numbers of these groups; made
 * once a refresh, as global ordinals are. A document outside is alone in its group: a search counts it, and no more.
 */
public final class SharedGroups {
    private final Leaf[] leaves;
    private final int count;

    private SharedGroups(Leaf[] leaves, int count) {
        this.leaves = leaves;
        this.count = count;
    }

    /** Returns how many groups have several documents. */
    int count() {
        return count;
    }

    Leaf leaf(LeafReaderContext context) {
        return leaves[context.ord];
    }

    /** Those of each reader that is open, by the field that names groups. */
    public static final class Cache {
        private record Key(IndexReader.CacheKey reader, String field) {}

        private final Map<Key, SharedGroups> made = new ConcurrentHashMap<>();

        /** Returns those of a reader. */
        public SharedGroups of(IndexReader reader, String field) throws IOException {
            IndexReader.CacheHelper helper = reader.getReaderCacheHelper();
            if (helper == null) {
                return make(reader.leaves(), field);
            }
            Key key = new Key(helper.getKey(), field);
            try {
                return made.computeIfAbsent(key, absent -> {
                    helper.addClosedListener(closed -> made.remove(key));
                    try {
                        return make(reader.leaves(), field);
                    } catch (IOException unread) {
                        throw new UncheckedIOException(unread);
                    }
                });
            } catch (UncheckedIOException unread) {
                throw unread.getCause();
            }
        }
    }

    private static SharedGroups make(List<LeafReaderContext> leaves, String field) throws IOException {
        SortedSetDocValues[] values = new SortedSetDocValues[leaves.size()];
        for (LeafReaderContext leaf : leaves) {
            values[leaf.ord] = DocValues.getSortedSet(leaf.reader(), field);
        }
        OrdinalMap map = values.length == 1 ? null : OrdinalMap.build(null, values, PackedInts.DEFAULT);
        long known = map != null ? map.getValueCount() : values.length == 0 ? 0 : values[0].getValueCount();
        int[] numbers = new int[Math.toIntExact(known)];
        for (int leaf = 0; leaf < values.length; leaf++) {
            for (int doc = values[leaf].nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = values[leaf].nextDoc()) {
                numbers[global(map, leaf, values[leaf].nextOrd())]++;
            }
        }
        int count = 0;
        for (int ordinal = 0; ordinal < numbers.length; ordinal++) {
            numbers[ordinal] = numbers[ordinal] > 1 ? count++ : -1;
        }
        Leaf[] made = new Leaf[values.length];
        for (LeafReaderContext leaf : leaves) {
            made[leaf.ord] = leaf(leaf, DocValues.getSortedSet(leaf.reader(), field), map, numbers);
        }
        return new SharedGroups(made, count);
    }

    private static int global(OrdinalMap map, int leaf, long ordinal) {
        return (int) (map == null ? ordinal : map.getGlobalOrds(leaf).get(ordinal));
    }

    private static Leaf leaf(LeafReaderContext context, SortedSetDocValues values, OrdinalMap map, int[] numbers)
            throws IOException {
        int size = Math.max(1, context.reader().maxDoc());
        FixedBitSet shared = new FixedBitSet(size);
        int[] own = new int[16];
        int at = 0;
        for (int doc = values.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = values.nextDoc()) {
            int number = numbers[global(map, context.ord, values.nextOrd())];
            if (number >= 0) {
                shared.set(doc);
                own = at == own.length ? Arrays.copyOf(own, 2 * at) : own;
                own[at++] = number;
            }
        }
        long[] words = shared.getBits();
        int[] before = new int[words.length];
        for (int word = 1; word < words.length; word++) {
            before[word] = before[word - 1] + Long.bitCount(words[word - 1]);
        }
        return new Leaf(words, before, Arrays.copyOf(own, at));
    }

    /**
     * Those of a segment.
     *
     * @param shared a bit for each document that shares its group
     * @param before how many such documents come before those of each word of bits
     * @param numbers the number of the group of each such document, in their order
     */
    record Leaf(long[] shared, int[] before, int[] numbers) {
        /** Returns the number of the group that a document shares; -1 for a document that is alone. */
        int number(int doc) {
            int word = doc >>> 6;
            long bits = shared[word];
            long bit = 1L << doc;
            return (bits & bit) == 0 ? -1 : numbers[before[word] + Long.bitCount(bits & bit - 1)];
        }
    }
}
