package ibidem.lucene;

import ibidem.core.SharedMatches;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
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
    private final Spec spec;
    private final SharedMatches shared = new SharedMatches();
    private final TopDocsCollector<?> alone;
    private long matched;
    private long ungrouped;
    private float highest = Float.NEGATIVE_INFINITY;

    /**
     * What is asked of a pass.
     *
     * @param groups which documents share their group
     * @param sort the order of the hits; null for scores
     * @param from the first group of the page
     * @param size groups on the page
     * @param scored whether each match is scored, beside what the order needs
     */
    public record Spec(SharedGroups groups, Sort sort, int from, int size, boolean scored) {
        boolean needsScores() {
            return sort == null || sort.needsScores() || scored;
        }
    }

    public GroupPass(Spec spec) {
        this.spec = spec;
        int most = Math.max(1, spec.from + spec.size);
        alone = spec.sort == null
                ? new TopScoreDocCollectorManager(most, null, Integer.MAX_VALUE).newCollector()
                : new TopFieldCollectorManager(spec.sort, most, null, Integer.MAX_VALUE).newCollector();
    }

    @Override
    public ScoreMode scoreMode() {
        return spec.needsScores() ? ScoreMode.COMPLETE : ScoreMode.COMPLETE_NO_SCORES;
    }

    @Override
    public LeafCollector getLeafCollector(LeafReaderContext context) throws IOException {
        SharedGroups.Leaf leaf = spec.groups.leaf(context);
        LeafCollector top = alone.getLeafCollector(context);
        int base = context.docBase;
        boolean scores = spec.needsScores();
        return new LeafCollector() {
            private Scorable scorer;

            @Override
            public void setScorer(Scorable scorable) throws IOException {
                scorer = scorable;
                top.setScorer(scorable);
            }

            @Override
            public void collect(int doc) throws IOException {
                matched++;
                int number = leaf.number(doc);
                if (number >= 0) {
                    shared.add(number, base + doc, scores ? scorer.score() : Float.NaN);
                } else {
                    ungrouped += leaf.isGrouped(doc) ? 0 : 1;
                    top.collect(doc);
                }
                if (spec.scored) {
                    highest = Math.max(highest, scorer.score());
                }
            }
        };
    }

    /**
     * The groups of a shard.
     *
     * @param matches the entries that groups name
     * @param groups those of the page, and counts of those with several documents
     * @param hits the hit of each entry of the page
     * @param matched how many documents match
     * @param all how many groups match
     * @param ungrouped how many documents without a group match
     * @param highest the highest score; NaN where none is known
     */
    public record Result(
            SharedMatches matches,
            SharedMatches.Groups groups,
            ScoreDoc[] hits,
            long matched,
            long all,
            long ungrouped,
            float highest) {}

    /** Puts the parts of a pass together. */
    public static Result finish(Collection<GroupPass> parts, List<LeafReaderContext> leaves) throws IOException {
        Spec spec = parts.iterator().next().spec;
        SharedMatches all = new SharedMatches();
        long matched = 0;
        long ungrouped = 0;
        float highest = Float.NEGATIVE_INFINITY;
        for (GroupPass part : parts) {
            all.addAll(part.shared);
            matched += part.matched;
            ungrouped += part.ungrouped;
            highest = Math.max(highest, part.highest);
        }
        long alone = matched - all.size();
        Values values = spec.sort == null ? null : new Values(spec.sort.getSort(), all, leaves);
        for (GroupPass part : parts) {
            for (ScoreDoc hit : part.alone.topDocs().scoreDocs) {
                all.add(SharedMatches.ALONE, hit.doc, hit.score);
                if (values != null) {
                    values.fields.add(((FieldDoc) hit).fields);
                }
            }
        }
        SharedMatches.Order order = values == null ? all.byScore() : values::compare;
        SharedMatches.Groups groups = all.groups(spec.groups.count(), order, spec.from, spec.size);
        ScoreDoc[] hits = new ScoreDoc[all.size()];
        for (SharedMatches.Group group : groups.page()) {
            for (int entry : group.members()) {
                hits[entry] = values == null
                        ? new ScoreDoc(all.document(entry), all.score(entry))
                        : new FieldDoc(all.document(entry), Float.NaN, values.fields.get(entry));
            }
        }
        if (values == null && matched > 0 && spec.from == 0 && !groups.page().isEmpty()) {
            highest = all.score(groups.page().get(0).members().get(0));
        }
        float best = highest == Float.NEGATIVE_INFINITY ? Float.NaN : highest;
        return new Result(all, groups, hits, matched, alone + groups.shared(), ungrouped, best);
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
            long[] order = new long[matches.size()];
            for (int entry = 0; entry < order.length; entry++) {
                order[entry] = (long) matches.document(entry) << Integer.SIZE | entry;
            }
            Arrays.sort(order);
            LeafReaderContext leaf = null;
            LeafFieldComparator[] own = new LeafFieldComparator[comparators.length];
            Known scorer = new Known();
            for (long each : order) {
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

    /** The score that a match had in the pass. */
    private static final class Known extends Scorable {
        private float score;

        @Override
        public float score() {
            return score;
        }
    }
}
