package ibidem.opensearch;

import ibidem.core.PackedField;
import ibidem.lucene.StoredValues;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.opensearch.common.document.DocumentField;
import org.opensearch.index.mapper.Uid;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;

/** Puts the packed value on each hit of a window as bytes, and the id where that holds none. */
final class PackedFetch implements FetchSubPhase {
    @Override
    public FetchSubPhaseProcessor getProcessor(FetchContext context) {
        return context.getSearchExt(WindowExt.NAME) instanceof WindowExt window ? new Reader(window.ids) : null;
    }

    private static final class Reader implements FetchSubPhaseProcessor {
        private final boolean ids;
        private StoredValues values;

        Reader(boolean ids) {
            this.ids = ids;
        }

        @Override
        public void setNextReader(LeafReaderContext reader) throws IOException {
            values = new StoredValues(reader.reader(), Uid::decodeId);
        }

        @Override
        public void process(HitContext hit) throws IOException {
            byte[] packed = values.packed(hit.docId());
            if (packed != null) {
                hit.hit().setDocumentField(PackedField.NAME, new DocumentField(PackedField.NAME, List.of(packed)));
            }
            if (packed == null || ids) {
                hit.hit()
                        .setDocumentField(
                                PackedField.ID, new DocumentField(PackedField.ID, List.of(values.id(hit.docId()))));
            }
        }
    }
}
