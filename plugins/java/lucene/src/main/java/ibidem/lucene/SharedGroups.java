package ibidem.lucene;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.OrdinalMap;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.packed.PackedInts;

/**
 * Which documents of a reader share their group with another one, deleted or not, and the numbers of these groups; made
 * once a refresh, from those before it where few documents are new. A document outside is alone in its group: a search
 * counts it, and no more.
 */
public final class SharedGroups {
    /** How many documents are passed over in the time in which one term is looked up. */
    private static final int LOOKUP = 16;

    private final Leaf[] leaves;
    private final int count;

    private SharedGroups(Leaf[] leaves, int count) {
        this.leaves = leaves;
        this.count = count;
    }

    /** Returns a number that is above that of each group. */
    int count() {
        return count;
    }

    Leaf leaf(LeafReaderContext context) {
        return leaves[context.ord];
    }

    /** Those of each reader that is open, by the field that names groups. */
    public static final class Cache {
        private record Key(IndexReader.CacheKey of, String field) {}

        private final Map<Key, SharedGroups> made = new ConcurrentHashMap<>(); // by the reader
        private final Map<Key, SharedGroups> latest = new ConcurrentHashMap<>(); // by each segment

        /** Returns those of a reader. */
        public SharedGroups of(IndexReader reader, String field) throws IOException {
            IndexReader.CacheHelper helper = reader.getReaderCacheHelper();
            List<LeafReaderContext> leaves = reader.leaves();
            if (helper == null || leaves.stream().allMatch(each -> isHidden(each, field))) {
                return make(leaves, field);
            }
            Key key = new Key(helper.getKey(), field);
            try {
                return made.computeIfAbsent(key, absent -> {
                    helper.addClosedListener(closed -> made.remove(key));
                    try {
                        SharedGroups groups = next(leaves, field);
                        leaves.forEach(each -> keep(each, field, groups));
                        return groups;
                    } catch (IOException unread) {
                        throw new UncheckedIOException(unread);
                    }
                });
            } catch (UncheckedIOException unread) {
                throw unread.getCause();
            }
        }

        /** Returns whether a segment lacks the field, or the caller may not read it. */
        private static boolean isHidden(LeafReaderContext leaf, String field) {
            return leaf.reader().getFieldInfos().fieldInfo(field) == null;
        }

        private void keep(LeafReaderContext leaf, String field, SharedGroups groups) {
            IndexReader.CacheHelper core = leaf.reader().getCoreCacheHelper();
            if (core != null && latest.put(new Key(core.getKey(), field), groups) == null) {
                core.addClosedListener(closed -> latest.remove(new Key(closed, field)));
            }
        }

        private SharedGroups next(List<LeafReaderContext> leaves, String field) throws IOException {
            LeafReaderContext largest = leaves.stream()
                    .max(Comparator.comparingInt(each -> each.reader().maxDoc()))
                    .orElseThrow();
            IndexReader.CacheKey core = core(largest);
            SharedGroups before = core == null ? null : latest.get(new Key(core, field));
            SharedGroups next = before == null ? null : before.extend(leaves, field);
            return next == null ? make(leaves, field) : next;
        }
    }

    /** Returns the key of a segment, which deletions do not change; null without one. */
    private static IndexReader.CacheKey core(LeafReaderContext leaf) {
        IndexReader.CacheHelper core = leaf.reader().getCoreCacheHelper();
        return core == null ? null : core.getKey();
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
        FixedBitSet shared = new FixedBitSet(Math.max(1, context.reader().maxDoc()));
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
        return new Leaf(core(context), shared.getBits(), Arrays.copyOf(own, at), new ShardKeys.Names());
    }

    /** Returns those of a reader that shares segments with this one; null if looking up the rest takes longer. */
    private SharedGroups extend(List<LeafReaderContext> all, String field) throws IOException {
        List<Segment> known = new ArrayList<>();
        List<Segment> fresh = new ArrayList<>();
        long lookups = 0;
        long documents = 0;
        for (LeafReaderContext each : all) {
            IndexReader.CacheKey core = core(each);
            int size = Math.max(1, each.reader().maxDoc());
            Leaf before = Arrays.stream(leaves)
                    .filter(leaf -> core != null && leaf.core == core)
                    .findAny()
                    .orElse(null);
            Leaf leaf = before != null
                    ? before
                    : new Leaf(core, new FixedBitSet(size).getBits(), new int[0], new ShardKeys.Names());
            Segment segment = new Segment(each, leaf, field);
            (before != null ? known : fresh).add(segment);
            lookups += before != null ? 0 : segment.names * all.size();
            documents += size;
        }
        if (lookups * LOOKUP > documents) {
            return null;
        }
        int next = count;
        for (Segment segment : fresh) {
            while (segment.terms.next() != null) {
                next = segment.share(known, next);
            }
            known.add(segment);
        }
        Leaf[] made = new Leaf[all.size()];
        for (Segment each : known) {
            made[each.context.ord] = each.joined.isEmpty() ? each.leaf : each.leaf.with(each.joined);
        }
        return new SharedGroups(made, next);
    }

    /** A segment, its documents that share a group, and those that were found to share one since. */
    private static final class Segment {
        private final LeafReaderContext context;
        private final Leaf leaf;
        private final TermsEnum terms;
        private final long names;
        private final TreeMap<Integer, Integer> joined = new TreeMap<>();
        private PostingsEnum documents;

        Segment(LeafReaderContext context, Leaf leaf, String field) throws IOException {
            this.context = context;
            this.leaf = leaf;
            Terms all = Terms.getTerms(context.reader(), field);
            names = all.size();
            terms = all.iterator();
        }

        /** Numbers the group at which the terms stand, if others share it; returns the next number that is free. */
        int share(List<Segment> others, int next) throws IOException {
            BytesRef name = terms.term();
            List<Segment> sharing = new ArrayList<>(List.of(this));
            int number = -1;
            for (Segment each : others) {
                if (each.terms.seekExact(name)) {
                    sharing.add(each);
                    number = Math.max(number, each.number(each.first()));
                }
            }
            if (sharing.size() == 1 && terms.docFreq() == 1) {
                return next;
            }
            for (Segment each : sharing) {
                each.join(number < 0 ? next : number);
            }
            return number < 0 ? next + 1 : next;
        }

        private int first() throws IOException {
            documents = terms.postings(documents, PostingsEnum.NONE);
            return documents.nextDoc();
        }

        private int number(int document) {
            Integer number = joined.get(document);
            return number != null ? number : leaf.number(document);
        }

        private void join(int number) throws IOException {
            int document = first();
            if (number(document) < 0) { // then none of them has it
                for (; document != DocIdSetIterator.NO_MORE_DOCS; document = documents.nextDoc()) {
                    joined.put(document, number);
                }
            }
        }
    }

    /**
     * Those of a segment.
     *
     * @param core the key of the segment
     * @param shared a bit for each document that shares its group
     * @param before how many such documents come before those of each word of bits
     * @param numbers the number of the group of each such document, in their order
     * @param names the names of all its groups, also of those that nobody shares
     */
    record Leaf(IndexReader.CacheKey core, long[] shared, int[] before, int[] numbers, ShardKeys.Names names) {
        Leaf(IndexReader.CacheKey core, long[] shared, int[] numbers, ShardKeys.Names names) {
            this(core, shared, new int[shared.length], numbers, names);
            for (int word = 1; word < shared.length; word++) {
                before[word] = before[word - 1] + Long.bitCount(shared[word - 1]);
            }
        }

        /** Returns the number of the group that a document shares; -1 for a document that is alone. */
        int number(int doc) {
            return (shared[doc >>> 6] & 1L << doc) == 0 ? -1 : numbers[place(doc)];
        }

        /** Returns how many documents before one share their group. */
        private int place(int doc) {
            return before[doc >>> 6] + Long.bitCount(shared[doc >>> 6] & (1L << doc) - 1);
        }

        /** Returns these with more documents, and the numbers of their groups. */
        Leaf with(TreeMap<Integer, Integer> joined) {
            long[] bits = shared.clone();
            int[] all = new int[numbers.length + joined.size()];
            int from = 0;
            int at = 0;
            for (Map.Entry<Integer, Integer> each : joined.entrySet()) {
                int doc = each.getKey();
                bits[doc >>> 6] |= 1L << doc;
                int until = place(doc);
                System.arraycopy(numbers, from, all, at, until - from);
                at += until - from;
                from = until;
                all[at++] = each.getValue();
            }
            System.arraycopy(numbers, from, all, at, numbers.length - from);
            return new Leaf(core, bits, all, names);
        }
    }
}
