package ibidem.elasticsearch;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.index.mapper.IdFieldMapper;
import org.elasticsearch.index.mapper.Uid;
import org.elasticsearch.search.fetch.FetchContext;
import org.elasticsearch.search.fetch.FetchSubPhase;
import org.elasticsearch.search.fetch.FetchSubPhaseProcessor;
import org.elasticsearch.search.fetch.StoredFieldsSpec;

/** Puts the packed value on each hit of a window as bytes, and the id where that holds none. */
final class PackedFetch implements FetchSubPhase {
    static final String FIELD = "ibidem.packed";
    static final String ID = "ibidem.id";

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
        public StoredFieldsSpec storedFieldsSpec() {
            return StoredFieldsSpec.NO_REQUIREMENTS;
        }

        @Override
        public void setNextReader(LeafReaderContext reader) throws IOException {
            values = reader.reader().getBinaryDocValues(FIELD);
        }

        @Override
        public void process(HitContext hit) throws IOException {
            byte[] packed = values != null && values.advanceExact(hit.docId()) ? first(values.binaryValue()) : null;
            if (packed != null) {
                hit.hit().setDocumentField(new DocumentField(FIELD, List.of(packed)));
            }
            if (packed == null || ids) {
                BytesRef id = hit.reader()
                        .storedFields()
                        .document(hit.docId(), Set.of(IdFieldMapper.NAME))
                        .getBinaryValue(IdFieldMapper.NAME);
                String name = Uid.decodeId(id.bytes, id.offset, id.length);
                hit.hit().setDocumentField(new DocumentField(ID, List.of(name)));
            }
        }
    }

    /** Reads the first value of a binary field: a count, then each value's length and bytes; null where there is none. */
    static byte[] first(BytesRef field) {
        int[] at = {field.offset};
        int count = number(field.bytes, at);
        int size = count > 0 ? number(field.bytes, at) : 0;
        boolean whole = size > 0 && at[0] + size <= field.offset + field.length;
        return whole ? Arrays.copyOfRange(field.bytes, at[0], at[0] + size) : null;
    }

    private static int number(byte[] bytes, int[] at) {
        int value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            byte next = bytes[at[0]++];
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                break;
            }
        }
        return value;
    }
}
