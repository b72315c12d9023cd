package ibidem.opensearch;

import ibidem.core.PackedField;
import ibidem.lucene.StoredValues;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.SearchHit;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;

/** Puts the packed value on each hit of a window as bytes, or the id where that value is not the document's own. */
final class PackedFetch implements FetchSubPhase {
    @Override
    public FetchSubPhaseProcessor getProcessor(FetchContext context) {
        return context.getSearchExt(WindowExt.NAME) instanceof WindowExt ? new Reader() : null;
    }

    private static final class Reader implements Engine.FieldReader {
        private StoredValues values;

        @Override
        public void setNextReader(LeafReaderContext reader) throws IOException {
            values = new StoredValues(reader.reader(), new Ids());
        }

        @Override
        public void process(HitContext hit) throws IOException {
            StoredValues.Values read = values.read(hit.docId());
            if (read.packed() == null) {
                put(hit.hit(), PackedField.ID, read.id());
            } else {
                put(hit.hit(), PackedField.NAME, read.packed());
            }
        }

        private static void put(SearchHit hit, String name, Object value) {
            Engine.setField(hit, new DocumentField(name, List.of(value)));
        }
    }
}
