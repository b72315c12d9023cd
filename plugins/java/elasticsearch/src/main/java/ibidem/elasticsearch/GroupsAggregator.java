package ibidem.elasticsearch;

import ibidem.lucene.GroupPass;
import ibidem.lucene.GroupSpec;
import ibidem.lucene.ShardGroups;
import ibidem.lucene.SharedGroups;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopFieldCollector;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.Bits;
import org.elasticsearch.common.lucene.Lucene;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.aggregations.AggregationExecutionContext;
import org.elasticsearch.search.aggregations.Aggregator;
import org.elasticsearch.search.aggregations.InternalAggregation;
import org.elasticsearch.search.aggregations.LeafBucketCollector;
import org.elasticsearch.search.aggregations.metrics.MetricsAggregator;
import org.elasticsearch.search.aggregations.support.AggregationContext;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.sort.SortAndFormats;

/** Groups all matches of a shard, and reads the hits of the page as the engine reads those that it shows. */
final class GroupsAggregator extends MetricsAggregator {
    private final GroupPass pass;
    private final SortAndFormats sort;
    private final PageContexts.Shard shard;
    private final SearchContext search;
    private final Weight postFilter;

    GroupsAggregator(SortAndFormats sort, AggregationContext context, Aggregator parent, Map<String, Object> metadata)
            throws IOException {
        super(GroupsBuilder.NAME, context, parent, metadata);
        this.sort = sort;
        shard = PageContexts.of(context.searcher());
        search = shard.search();
        GroupSpec spec = ((WindowExt) search.getSearchExt(WindowExt.NAME)).spec();
        SharedGroups shared = PageContexts.SHARED.of(context.searcher().getIndexReader(), spec.field());
        pass = new GroupPass(spec, shared, sort == null ? null : sort.sort, this::addRequestCircuitBreakerBytes);
        shard.open().incrementAndGet();
        shard.passes().add(pass);
        postFilter = search.parsedPostFilter() == null
                ? null
                : search.searcher()
                        .createWeight(
                                search.searcher()
                                        .rewrite(search.parsedPostFilter().query()),
                                ScoreMode.COMPLETE_NO_SCORES,
                                1f);
    }

    @Override
    public ScoreMode scoreMode() {
        return pass.scoreMode();
    }

    @Override
    protected LeafBucketCollector getLeafCollector(AggregationExecutionContext segment, LeafBucketCollector below)
            throws IOException {
        var leaf = segment.getLeafReaderContext();
        LeafCollector matches = pass.getLeafCollector(leaf);
        Bits filtered = postFilter == null
                ? null
                : Lucene.asSequentialAccessBits(leaf.reader().maxDoc(), postFilter.scorerSupplier(leaf));
        return new LeafBucketCollector() {
            @Override
            public void setScorer(Scorable scorer) throws IOException {
                matches.setScorer(scorer);
            }

            @Override
            public void collect(int document, long bucket) throws IOException {
                if (filtered == null || filtered.get(document)) {
                    matches.collect(document);
                }
            }
        };
    }

    @Override
    public InternalAggregation buildAggregation(long bucket) throws IOException {
        if (shard.open().decrementAndGet() > 0) {
            return new InternalGroups(List.of(), metadata());
        }
        ShardGroups groups = GroupPass.finish(
                shard.passes(), context.searcher().getIndexReader().leaves());
        if (sort != null && search.trackScores()) {
            TopFieldCollector.populateScores(groups.documents(), context.searcher(), context.query());
        } else if (sort != null) {
            putScores(groups.documents());
        }
        return new InternalGroups(List.of(new InternalGroups.Shard(groups, hits(groups.documents()))), metadata());
    }

    /** Puts scores onto documents that are sorted by them among others. */
    private void putScores(ScoreDoc[] documents) {
        int at = List.of(sort.sort.getSort()).indexOf(SortField.FIELD_SCORE);
        for (ScoreDoc each : documents) {
            each.score = at < 0 ? Float.NaN : (Float) ((FieldDoc) each).fields[at];
        }
    }

    private SearchHits hits(ScoreDoc[] documents) {
        SearchHit[] hits = {};
        if (documents.length > 0) {
            int[] numbers = new int[documents.length];
            for (int at = 0; at < documents.length; at++) {
                numbers[at] = documents[at].doc;
            }
            PageContexts.Page page = new PageContexts.Page(search);
            search.fetchPhase().execute(page, numbers, null, this::addRequestCircuitBreakerBytes);
            hits = page.fetchResult().hits().getHits();
        }
        for (int at = 0; at < documents.length; at++) {
            hits[at].shard(search.shardTarget());
            hits[at].score(documents[at].score);
            if (documents[at] instanceof FieldDoc sorted) {
                hits[at].sortValues(sorted.fields, sort.formats);
            }
        }
        return new SearchHits(hits, null, Float.NaN, sort == null ? null : sort.sort.getSort(), null, null);
    }

    @Override
    public InternalAggregation buildEmptyAggregation() {
        throw new UnsupportedOperationException(GroupsBuilder.NAME + " inside another aggregation");
    }
}
