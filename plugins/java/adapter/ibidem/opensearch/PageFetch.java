package ibidem.opensearch;

import ibidem.core.ShardPage;
import ibidem.lucene.RankedPage;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.LeafReaderContext;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.SearchHit;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;
import org.opensearch.search.rescore.RescoreContext;

/** Adds its fields to each hit of a page that its shard made. */
final class PageFetch implements FetchSubPhase {
    @Override
    public FetchSubPhaseProcessor getProcessor(FetchContext context) {
        if (context.rescore() != null) {
            for (RescoreContext each : context.rescore()) {
                if (each instanceof PageContext pageContext
                        && pageContext.page().isMade()) {
                    return new Carrier(pageContext.page());
                }
            }
        }
        return null;
    }

    private record Carrier(RankedPage page) implements Engine.FieldReader {

        @Override
        public void setNextReader(LeafReaderContext reader) {}

        @Override
        public void process(HitContext hit) {
            put(hit.hit(), ShardPage.HIT, page.valuesOfHit(hit.hit().docId()));
            put(hit.hit(), ShardPage.PAGE, page.values(hit.hit().docId()));
        }

        private static void put(SearchHit hit, String name, Map<String, Object> value) {
            if (value != null) {
                Engine.setField(hit, new DocumentField(name, List.of(value)));
            }
        }
    }
}
