package ibidem.elasticsearch;

import ibidem.lucene.GroupPass;
import ibidem.lucene.SharedGroups;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.IndexSearcher;
import org.elasticsearch.index.shard.SearchOperationListener;
import org.elasticsearch.search.fetch.FetchSearchResult;
import org.elasticsearch.search.fetch.subphase.FetchDocValuesContext;
import org.elasticsearch.search.fetch.subphase.FetchFieldsContext;
import org.elasticsearch.search.internal.FilteredSearchContext;
import org.elasticsearch.search.internal.SearchContext;

/** Searches under way on a node's shards: what an aggregation is given lacks the display of hits. */
final class PageContexts implements SearchOperationListener {
    static final SharedGroups.Cache SHARED = new SharedGroups.Cache();
    private static final Map<IndexSearcher, Shard> UNDER_WAY = new ConcurrentHashMap<>();

    /** A search of a shard: what threads have seen of some segments each, and how many are not at their end. */
    record Shard(SearchContext search, AtomicInteger open, Queue<GroupPass> passes) {}

    static Shard of(IndexSearcher searcher) {
        return UNDER_WAY.get(searcher);
    }

    @Override
    public void onPreQueryPhase(SearchContext search) {
        if (search.getSearchExt(WindowExt.NAME) != null) {
            UNDER_WAY.put(search.searcher(), new Shard(search, new AtomicInteger(), new ConcurrentLinkedQueue<>()));
        }
    }

    @Override
    public void onQueryPhase(SearchContext search, long tookNanos) {
        UNDER_WAY.remove(search.searcher());
    }

    @Override
    public void onFailedQueryPhase(SearchContext search) {
        UNDER_WAY.remove(search.searcher());
    }

    /** A search whose hits are read apart from its own, and shown as it shows them. */
    static final class Page extends FilteredSearchContext {
        private final SearchContext search;
        private final FetchSearchResult result;

        Page(SearchContext search) {
            super(search);
            this.search = search;
            result = new FetchSearchResult(search.id(), search.shardTarget());
        }

        @Override
        public FetchSearchResult fetchResult() {
            return result;
        }

        @Override
        public FetchFieldsContext fetchFieldsContext() {
            return search.fetchFieldsContext();
        }

        @Override
        public SearchContext fetchFieldsContext(FetchFieldsContext fields) {
            return search.fetchFieldsContext(fields);
        }

        @Override
        public FetchDocValuesContext docValuesContext() {
            return search.docValuesContext();
        }

        @Override
        public SearchContext docValuesContext(FetchDocValuesContext fields) {
            return search.docValuesContext(fields);
        }
    }
}
