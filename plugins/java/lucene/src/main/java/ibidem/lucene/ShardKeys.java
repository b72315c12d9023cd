package ibidem.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Groups of a shard's matches, of which other shards may have some: hashes of their names.
 *
 * @param hashes those of the groups, ascending
 * @param counts how many documents of each match
 */
public record ShardKeys(long[] hashes, int[] counts) {
    private static final int MOST = 40_000;

    /** Returns how many documents of a group match. */
    int count(long hash) {
        int at = Arrays.binarySearch(hashes, hash);
        return at < 0 ? 0 : counts[at];
    }

    static long hash(BytesRef name) {
        long first = StringHelper.murmurhash3_x86_32(name, 0);
        return first << Integer.SIZE | Integer.toUnsignedLong(StringHelper.murmurhash3_x86_32(name, (int) ~first));
    }

    /** Those of all names of a segment, by ordinal, once half as many were looked up one by one. */
    static final class Names {
        private volatile long[] hashes;
        private int lookups;

        /** Returns them; null as long as so many more are looked up one by one. */
        private long[] of(SortedSetDocValues values, int more) throws IOException {
            int all = Math.toIntExact(values.getValueCount());
            lookups += more;
            if (hashes == null && lookups > all / 2) {
                long[] made = new long[all];
                for (int ordinal = 0; ordinal < all; ordinal++) {
                    made[ordinal] = hash(values.lookupOrd(ordinal));
                }
                hashes = made;
            }
            return hashes;
        }
    }

    /** Collects the matches that are alone in their shard. */
    static final class Collector {
        private final List<Leaf> leaves = new ArrayList<>();
        private final String field;
        private final LongConsumer memory;

        Collector(String field, LongConsumer memory) {
            this.field = field;
            this.memory = memory;
        }

        /** Those of a segment, by their ordinals. */
        final class Leaf {
            private final SortedSetDocValues values;
            private final Names names;
            private int[] ordinals = new int[64];
            private int size;

            private Leaf(SortedSetDocValues values, Names names) {
                this.values = values;
                this.names = names;
            }

            void collect(int document) throws IOException {
                if (size <= MOST && values.advanceExact(document)) {
                    if (size == ordinals.length) {
                        memory.accept(Integer.BYTES * size);
                        ordinals = Arrays.copyOf(ordinals, 2 * size);
                    }
                    ordinals[size++] = (int) values.nextOrd();
                }
            }
        }

        Leaf leaf(LeafReaderContext context, Names names) throws IOException {
            Leaf leaf = new Leaf(DocValues.getSortedSet(context.reader(), field), names);
            leaves.add(leaf);
            return leaf;
        }
    }

    /**
     * Returns those of a pass; null where they are too many to be merged.
     *
     * @param parts the matches that are alone, by the parts of the pass
     * @param names the groups of the others
     * @param sizes how many documents of each match
     */
    static ShardKeys of(Collection<Collector> parts, String[] names, int[] sizes) throws IOException {
        int most = names.length;
        for (Collector part : parts) {
            most += part.leaves.stream().mapToInt(each -> each.size).sum();
        }
        if (most > MOST) {
            return null;
        }
        long[] shared =
                Arrays.stream(names).mapToLong(each -> hash(new BytesRef(each))).toArray();
        long[] hashes = Arrays.copyOf(shared, most);
        int at = shared.length;
        for (Collector part : parts) {
            for (Collector.Leaf leaf : part.leaves) {
                long[] known = leaf.names.of(leaf.values, leaf.size);
                if (known == null) {
                    Arrays.sort(leaf.ordinals, 0, leaf.size); // names are next to each other in blocks
                }
                for (int place = 0; place < leaf.size; place++) {
                    int ordinal = leaf.ordinals[place];
                    hashes[at++] = known == null ? hash(leaf.values.lookupOrd(ordinal)) : known[ordinal];
                }
            }
        }
        Arrays.sort(hashes);
        int[] counts = new int[most];
        Arrays.fill(counts, 1);
        for (int group = 0; group < shared.length; group++) {
            counts[Arrays.binarySearch(hashes, shared[group])] = sizes[group];
        }
        return new ShardKeys(hashes, counts);
    }

    /** Returns how many groups several shards have in all. */
    static int distinct(Collection<ShardKeys> shards) {
        long[] all = shards.stream()
                .flatMapToLong(each -> Arrays.stream(each.hashes))
                .toArray();
        Arrays.sort(all);
        int distinct = 0;
        for (int at = 0; at < all.length; at++) {
            distinct += at == 0 || all[at] != all[at - 1] ? 1 : 0;
        }
        return distinct;
    }
}
