package ibidem.opensearch;

import ibidem.lucene.RankedPage;
import java.io.IOException;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.opensearch.search.rescore.RescoreContext;
import org.opensearch.search.rescore.Rescorer;

/** Carries a page that is under way through the phases of a shard. */
final class PageContext extends RescoreContext {
    private final RankedPage page;

    /**
     * @param windowSize the engine's
     * @param page the page, not made so far
     */
    PageContext(int windowSize, RankedPage page) {
        super(windowSize, new Maker());
        this.page = page;
    }

    RankedPage page() {
        return page;
    }

    private static final class Maker implements Rescorer {
        @Override
        public TopDocs rescore(TopDocs hits, IndexSearcher searcher, RescoreContext context) throws IOException {
            return ((PageContext) context).page.make(hits, searcher);
        }

        @Override
        public Explanation explain(int document, IndexSearcher searcher, RescoreContext context, Explanation first) {
            return first;
        }
    }
}
