package ibidem.opensearch;

import ibidem.core.PackedField;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.BytesRef;
import org.opensearch.common.document.DocumentField;
import org.opensearch.index.mapper.IdFieldMapper;
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
        private BinaryDocValues values;

        Reader(boolean ids) {
            this.ids = ids;
        }

        @Override
        public void setNextReader(LeafReaderContext reader) throws IOException {
            values = reader.reader().getBinaryDocValues(PackedField.NAME);
        }

        @Override
        public void process(HitContext hit) throws IOException {
            byte[] packed = values != null && values.advanceExact(hit.docId()) ? first(values.binaryValue()) : null;
            if (packed != null) {
                hit.hit().setDocumentField(PackedField.NAME, new DocumentField(PackedField.NAME, List.of(packed)));
            }
            if (packed == null || ids) {
                BytesRef id = hit.reader()
                        .storedFields()
                        .document(hit.docId(), Set.of(IdFieldMapper.NAME))
                        .getBinaryValue(IdFieldMapper.NAME);
                String name = Uid.decodeId(id.bytes, id.offset, id.length);
                hit.hit().setDocumentField(PackedField.ID, new DocumentField(PackedField.ID, List.of(name)));
            }
        }
    }

    private static byte[] first(BytesRef field) {
        return PackedField.first(field.bytes, field.offset, field.length);
    }
}
