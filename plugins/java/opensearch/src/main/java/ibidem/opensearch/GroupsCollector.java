package ibidem.opensearch;

import ibidem.lucene.GroupPass;
import ibidem.lucene.ShardGroups;
import ibidem.lucene.SharedGroups;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldCollector;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.opensearch.common.lucene.search.TopDocsAndMaxScore;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.search.query.QueryCollectorArguments;
import org.opensearch.search.query.QueryCollectorContextSpec;
import org.opensearch.search.query.QuerySearchResult;
import org.opensearch.search.query.ReduceableSearchResult;

/** In place of the engine's own collector: one pass whose hits are the documents of the page's groups. */
final class GroupsCollector implements QueryCollectorContextSpec, CollectorManager<GroupPass, ReduceableSearchResult> {
    private static final SharedGroups.Cache SHARED = new SharedGroups.Cache();

    private final WindowExt ext;
    private final SearchContext context;
    private final SharedGroups shared;
    private final Sort sort;
    private final LongConsumer memory;
    private GroupPass only;

    private GroupsCollector(WindowExt ext, SearchContext context, SharedGroups shared) {
        this.ext = ext;
        this.context = context;
        this.shared = shared;
        sort = context.sort() == null ? null : context.sort().sort;
        memory = memory(context);
    }

    /** Counts memory as that of the request, until the search of the shard ends. */
    private static LongConsumer memory(SearchContext context) {
        CircuitBreaker breaker = context.bigArrays().breakerService().getBreaker(CircuitBreaker.REQUEST);
        AtomicLong taken = new AtomicLong();
        context.addReleasable(() -> breaker.addWithoutBreaking(-taken.get()));
        return bytes -> {
            breaker.addEstimateBytesAndMaybeBreak(bytes, WindowExt.NAME);
            taken.addAndGet(bytes);
        };
    }

    /** Takes the place of the engine's collector where a search asks for it. */
    static Optional<QueryCollectorContextSpec> of(SearchContext context, Query query, QueryCollectorArguments arguments)
            throws IOException {
        if (!(context.getSearchExt(WindowExt.NAME) instanceof WindowExt ext) || ext.spec() == null) {
            return Optional.empty();
        }
        SharedGroups shared =
                SHARED.of(context.searcher().getIndexReader(), ext.spec().field());
        return Optional.of(new GroupsCollector(ext, context, shared));
    }

    @Override
    public String getContextName() {
        return WindowExt.NAME;
    }

    @Override
    public Collector create(Collector in) {
        only = newCollector();
        return only;
    }

    @Override
    public CollectorManager<?, ReduceableSearchResult> createManager(CollectorManager<?, ReduceableSearchResult> in) {
        return this;
    }

    @Override
    public GroupPass newCollector() {
        return new GroupPass(ext.spec(), shared, sort, memory);
    }

    @Override
    public ReduceableSearchResult reduce(Collection<GroupPass> parts) {
        return result -> put(parts, result);
    }

    @Override
    public void postProcess(QuerySearchResult result) throws IOException {
        if (only != null) {
            put(List.of(only), result);
        }
    }

    /** Hands what the query phase found to the fetch phase, which has a context of its own. */
    static final class Found implements SearchOperationListener {
        @Override
        public void onPreFetchPhase(SearchContext context) {
            if (context.getSearchExt(WindowExt.NAME) instanceof WindowExt ext && ext.spec() != null) {
                ShardGroups found = context.readerContext().getFromContext(WindowExt.NAME);
                context.addSearchExt(new WindowExt(ext.spec(), found));
            }
        }
    }

    private void put(Collection<GroupPass> parts, QuerySearchResult result) throws IOException {
        ShardGroups found =
                GroupPass.finish(parts, context.searcher().getIndexReader().leaves());
        context.readerContext().putInContext(WindowExt.NAME, found);
        ScoreDoc[] documents = found.documents();
        TotalHits total = new TotalHits(found.matches(), TotalHits.Relation.EQUAL_TO);
        if (sort != null && context.trackScores()) {
            TopFieldCollector.populateScores(documents, context.searcher(), context.query());
        }
        TopDocs top = sort == null ? new TopDocs(total, documents) : new TopFieldDocs(total, documents, sort.getSort());
        result.topDocs(new TopDocsAndMaxScore(top, found.highest()), sort == null ? null : context.sort().formats);
    }
}
