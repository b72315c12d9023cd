package ibidem.lucene;

import ibidem.core.SharedMatches;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.LongConsumer;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.FieldComparator;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.LeafFieldComparator;
import org.apache.lucene.search.Pruning;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocsCollector;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopScoreDocCollectorManager;

/** One pass over the matches of a shard, or of some of its segments: it groups them by stored groups. */
public final class GroupPass implements Collector {
    private final GroupSpec spec;
    private final SharedGroups groups;
    private final Sort sort;
    private final boolean scores;
    private final LongConsumer memory;
    private final SharedMatches shared;
    private final TopDocsCollector<?> alone;
    private final ShardKeys.Collector keys;
    private final Known known = new Known();
    private long matched;
    private float highest = Float.NEGATIVE_INFINITY;

    /**
     * @param sort the order of the hits; null for scores
     * @param memory is told before bytes are taken, and may refuse them
     */
    public GroupPass(GroupSpec spec, SharedGroups groups, Sort sort, LongConsumer memory) {
        this.spec = spec;
        this.groups = groups;
        this.sort = sort;
        this.memory = memory;
        shared = new SharedMatches(memory);
        scores = sort == null || sort.needsScores() || spec.scored();
        keys = spec.keyed() ? new ShardKeys.Collector(spec.field(), memory) : null;
        int most = most();
        alone = sort == null
                ? new TopScoreDocCollectorManager(most, null, most).newCollector()
                : new TopFieldCollectorManager(sort, most, null, Integer.MAX_VALUE).newCollector();
    }

    private int most() {
        return Math.max(1, spec.from() + spec.groups());
    }

    @Override
    public ScoreMode scoreMode() {
        return scores ? ScoreMode.COMPLETE : ScoreMode.COMPLETE_NO_SCORES;
    }

    @Override
    public LeafCollector getLeafCollector(LeafReaderContext context) throws IOException {
        SharedGroups.Leaf leaf = groups.leaf(context);
        LeafCollector top = alone.getLeafCollector(context);
        ShardKeys.Collector.Leaf lone = keys == null ? null : keys.leaf(context, leaf.names());
        int base = context.docBase;
        return new LeafCollector() {
            private Scorable scorer;

            @Override
            public void setScorer(Scorable scorable) throws IOException {
                scorer = scorable;
                top.setScorer(sort == null ? known : scorable);
            }

            @Override
            public void collect(int doc) throws IOException {
                matched++;
                int number = leaf.number(doc);
                if (number >= 0) {
                    shared.add(number, base + doc, scores ? scorer.score() : Float.NaN);
                } else if (sort != null) {
                    top.collect(doc);
                } else {
                    known.score = scorer.score();
                    if (known.score >= known.least) {
                        top.collect(doc);
                    }
                }
                if (lone != null && number < 0) {
                    lone.collect(doc);
                }
                if (spec.scored()) {
                    highest = Math.max(highest, scorer.score());
                }
            }
        };
    }

    /** Puts the parts of a pass together. */
    public static ShardGroups finish(Collection<GroupPass> parts, List<LeafReaderContext> leaves) throws IOException {
        GroupPass any = parts.iterator().next();
        SharedMatches all = parts.size() == 1 ? any.shared : new SharedMatches(any.memory);
        long matched = 0;
        float highest = Float.NEGATIVE_INFINITY;
        for (GroupPass part : parts) {
            if (part.shared != all) {
                all.addAll(part.shared);
            }
            matched += part.matched;
            highest = Math.max(highest, part.highest);
        }
        long alone = matched - all.size();
        Values values = any.sort == null ? null : new Values(any.sort.getSort(), all, leaves);
        for (GroupPass part : parts) {
            for (ScoreDoc hit : part.alone.topDocs().scoreDocs) {
                all.add(SharedMatches.ALONE, hit.doc, hit.score);
                if (values != null) {
                    values.fields.add(((FieldDoc) hit).fields);
                }
            }
        }
        SharedMatches.Order order = values == null ? all.byScore() : values::compare;
        SharedMatches.Groups groups = all.groups(any.groups.count(), order, any.most());
        if (values == null && !groups.page().isEmpty()) {
            highest = all.score(groups.page().get(0)[0]);
        }
        ShardKeys keys = null;
        if (any.keys != null) {
            String[] names = any.names(all, groups.best(), leaves);
            keys = ShardKeys.of(parts.stream().map(each -> each.keys).toList(), names, groups.sizes(), any.memory);
        }
        List<Shown> page = any.page(groups.page(), order, all, leaves);
        ScoreDoc[] documents = new ScoreDoc[page.size()];
        String[] names = new String[documents.length];
        int[] counts = new int[documents.length];
        for (int at = 0; at < documents.length; at++) {
            int entry = page.get(at).entry;
            documents[at] = values == null
                    ? new ScoreDoc(all.document(entry), all.score(entry))
                    : new FieldDoc(all.document(entry), Float.NaN, values.fields.get(entry));
            names[at] = page.get(at).name;
            counts[at] = page.get(at).count;
        }
        float best = highest == Float.NEGATIVE_INFINITY ? Float.NaN : highest;
        return new ShardGroups(matched, alone + groups.best().length, keys, best, documents, names, counts);
    }

    /** A document of a page, with the name and the size of its group. */
    private record Shown(int entry, String name, int count) {}

    /** Cuts the page from the best groups; where it has none, a document that belongs to none carries the counts. */
    private List<Shown> page(
            List<int[]> best, SharedMatches.Order order, SharedMatches all, List<LeafReaderContext> leaves)
            throws IOException {
        List<int[]> groups =
                best.subList(Math.min(spec.from(), best.size()), Math.min(spec.from() + spec.groups(), best.size()));
        String[] names = names(all, groups.stream().mapToInt(each -> each[0]).toArray(), leaves);
        List<Shown> page = new ArrayList<>();
        for (int at = 0; at < names.length; at++) {
            int[] members = groups.get(at);
            for (int member = 0; member < Math.min(spec.members(), members.length); member++) {
                page.add(new Shown(members[member], names[at], members.length));
            }
        }
        if (page.isEmpty() && !best.isEmpty()) {
            page.add(new Shown(best.get(0)[0], null, 0));
        }
        page.sort((shown, other) -> order.compare(shown.entry, other.entry));
        return page;
    }

    /** Returns the name of the group of each entry, read in ascending order of documents. */
    private String[] names(SharedMatches all, int[] entries, List<LeafReaderContext> leaves) throws IOException {
        String[] names = new String[entries.length];
        LeafReaderContext leaf = null;
        SortedSetDocValues values = null;
        for (long each : inOrder(entries.length, at -> all.document(entries[at]))) {
            int document = all.document(entries[(int) each]);
            if (leaf == null || document >= leaf.docBase + leaf.reader().maxDoc()) {
                leaf = leaves.get(ReaderUtil.subIndex(document, leaves));
                values = DocValues.getSortedSet(leaf.reader(), spec.field());
            }
            boolean has = values.advanceExact(document - leaf.docBase);
            names[(int) each] = has ? values.lookupOrd(values.nextOrd()).utf8ToString() : null;
        }
        return names;
    }

    /** Returns numbers whose low halves are places, in ascending order of the documents there. */
    private static long[] inOrder(int size, IntUnaryOperator documents) {
        long[] order = new long[size];
        for (int at = 0; at < size; at++) {
            order[at] = (long) documents.applyAsInt(at) << Integer.SIZE | at;
        }
        Arrays.sort(order);
        return order;
    }

    /** The values by which entries are sorted, as the engine's own comparators read them. */
    private static final class Values {
        private final SharedMatches matches;
        private final FieldComparator<Object>[] comparators;
        private final int[] signs;
        private final List<Object[]> fields = new ArrayList<>();

        @SuppressWarnings("unchecked") // each comparator compares its own values
        Values(SortField[] sort, SharedMatches matches, List<LeafReaderContext> leaves) throws IOException {
            this.matches = matches;
            comparators = (FieldComparator<Object>[]) new FieldComparator<?>[sort.length];
            signs = new int[sort.length];
            for (int at = 0; at < sort.length; at++) {
                comparators[at] =
                        (FieldComparator<Object>) sort[at].getComparator(Math.max(1, matches.size()), Pruning.NONE);
                signs[at] = sort[at].getReverse() ? -1 : 1;
            }
            read(leaves);
            for (int entry = 0; entry < matches.size(); entry++) {
                int slot = entry;
                fields.add(
                        Arrays.stream(comparators).map(each -> each.value(slot)).toArray());
            }
        }

        /** Reads those of the entries so far, segment by segment. */
        private void read(List<LeafReaderContext> leaves) throws IOException {
            LeafReaderContext leaf = null;
            LeafFieldComparator[] own = new LeafFieldComparator[comparators.length];
            Known scorer = new Known();
            for (long each : inOrder(matches.size(), matches::document)) {
                int entry = (int) each;
                int document = matches.document(entry);
                if (leaf == null || document >= leaf.docBase + leaf.reader().maxDoc()) {
                    leaf = leaves.get(ReaderUtil.subIndex(document, leaves));
                    for (int at = 0; at < own.length; at++) {
                        own[at] = comparators[at].getLeafComparator(leaf);
                        own[at].setScorer(scorer);
                    }
                }
                scorer.score = matches.score(entry);
                for (LeafFieldComparator comparator : own) {
                    comparator.copy(entry, document - leaf.docBase);
                }
            }
        }

        int compare(int entry, int other) {
            for (int at = 0; at < comparators.length; at++) {
                int result = signs[at] * comparators[at].compareValues(fields.get(entry)[at], fields.get(other)[at]);
                if (result != 0) {
                    return result;
                }
            }
            return Integer.compare(matches.document(entry), matches.document(other));
        }
    }

    /** The score that a match had in the pass, and the least that a later one needs to be among the best. */
    private static final class Known extends Scorable {
        private float least = Float.NEGATIVE_INFINITY;
        private float score;

        @Override
        public float score() {
            return score;
        }

        @Override
        public void setMinCompetitiveScore(float minimum) {
            least = minimum;
        }
    }
}
