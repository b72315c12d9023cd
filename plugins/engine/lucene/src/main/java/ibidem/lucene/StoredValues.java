package ibidem.lucene;

import ibidem.core.PackedField;
import java.io.IOException;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.util.BytesRef;

/** Stored values of a segment's documents that grouping needs; read in ascending order of documents. */
public final class StoredValues {
    private static final String ID = "_id";

    /** Reads an id as the engine stores it. */
    public interface IdCode {
        String decode(byte[] bytes, int offset, int length);
    }

    private final LeafReader reader;
    private final IdCode code;
    private final BinaryDocValues values;

    /**
     * @param reader the segment's
     * @param code the engine's
     */
    public StoredValues(LeafReader reader, IdCode code) throws IOException {
        this.reader = reader;
        this.code = code;
        values = reader.getBinaryDocValues(PackedField.NAME);
    }

    /** Returns a document's packed value; null where it has none. */
    public byte[] packed(int document) throws IOException {
        if (values == null || !values.advanceExact(document)) {
            return null;
        }
        BytesRef field = values.binaryValue();
        return PackedField.first(field.bytes, field.offset, field.length);
    }

    /** Returns a document's id. */
    public String id(int document) throws IOException {
        BytesRef id = reader.storedFields().document(document, Set.of(ID)).getBinaryValue(ID);
        return code.decode(id.bytes, id.offset, id.length);
    }
}
