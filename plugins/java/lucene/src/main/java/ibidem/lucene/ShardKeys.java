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
 * @param hashes those of the groups
 * @param counts how many documents of the first of them match; of each of the others one
 */
public record ShardKeys(long[] hashes, int[] counts) {
    private static final int MOST = 40_000;

    /** Returns how many documents of a group match. */
    int count(long hash) {
        int at = 0;
        while (at < hashes.length && hashes[at] != hash) {
            at++;
        }
        return at < counts.length ? counts[at] : at < hashes.length ? 1 : 0;
    }

    static long hash(BytesRef name) {
        long first = StringHelper.murmurhash3_x86_32(name, 0);
        return first << Integer.SIZE | Integer.toUnsignedLong(StringHelper.murmurhash3_x86_32(name, (int) ~first));
    }

    /** Hashes of all names of a segment, by ordinal: made once half of them were looked up one by one. */
    static final class Names {
        private volatile long[] hashes;
        private int lookups;

        /** Returns them; null while few were asked for, which are looked up one by one. */
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

    /** Returns those of a pass: of its parts' lone matches and of the named groups; null if too many to be merged. */
    static ShardKeys of(Collection<Collector> parts, String[] names, int[] sizes, LongConsumer memory)
            throws IOException {
        int most = names.length;
        for (Collector part : parts) {
            most += part.leaves.stream().mapToInt(each -> each.size).sum();
        }
        if (most > MOST) {
            return null;
        }
        memory.accept((long) Long.BYTES * most);
        long[] hashes = new long[most];
        int at = 0;
        for (String name : names) {
            hashes[at++] = hash(new BytesRef(name));
        }
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
        return new ShardKeys(hashes, Arrays.copyOf(sizes, names.length));
    }

    /** Returns how many groups several shards have in all. */
    static int distinct(Collection<ShardKeys> shards) {
        int all = shards.stream().mapToInt(each -> each.hashes.length).sum();
        long[] seen = new long[2 * Integer.highestOneBit(2 * all + 1)];
        int distinct = 0;
        for (ShardKeys shard : shards) {
            for (long hash : shard.hashes) {
                int at = (int) hash & seen.length - 1;
                while (seen[at] != 0 && seen[at] != hash) {
                    at = at + 1 & seen.length - 1;
                }
                distinct += seen[at] == 0 ? 1 : 0;
                seen[at] = hash;
            }
        }
        return distinct;
    }
}
