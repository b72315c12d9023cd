package ibidem.opensearch;

import ibidem.core.PackedField;
import java.io.IOException;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.util.BytesRef;
import org.opensearch.index.mapper.IdFieldMapper;
import org.opensearch.index.mapper.Uid;

/** What a segment stores of documents that grouping needs; documents are asked for in ascending order. */
final class Stored {
    private final LeafReader reader;
    private final BinaryDocValues values;

    Stored(LeafReader reader) throws IOException {
        this.reader = reader;
        values = reader.getBinaryDocValues(PackedField.NAME);
    }

    /** Returns a document's packed value; null where it has none. */
    byte[] packed(int document) throws IOException {
        if (values == null || !values.advanceExact(document)) {
            return null;
        }
        BytesRef field = values.binaryValue();
        return PackedField.first(field.bytes, field.offset, field.length);
    }

    /** Returns a document's id. */
    String id(int document) throws IOException {
        BytesRef id = reader.storedFields()
                .document(document, Set.of(IdFieldMapper.NAME))
                .getBinaryValue(IdFieldMapper.NAME);
        return Uid.decodeId(id.bytes, id.offset, id.length);
    }
}
