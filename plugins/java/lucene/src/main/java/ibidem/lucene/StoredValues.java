package ibidem.lucene;

import ibidem.core.Packed;
import ibidem.core.PackedField;
import java.io.IOException;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;

/**
 * Stored values of a segment's documents that grouping needs; read in ascending order of documents.
 *
 * <p>A packed value holds the id of its document, which spares the stored field of the id: to read that, a block of the
 * documents is decompressed. But whoever may write a document may write any value into it, or copy that of another one.
 * So the id is looked up in the segment's terms, and a value whose id is not its document's is none.
 */
public final class StoredValues {
    private static final String ID = "_id";

    /** Reads and writes an id as the engine stores it. */
    public interface IdCode {
        String decode(byte[] bytes, int offset, int length);

        BytesRef encode(String id);
    }

    /**
     * The values of a document.
     *
     * @param id its id, as the engine has it; null where the packed value names it
     * @param packed its packed value; null where it has none, or that of another document
     */
    public record Values(String id, byte[] packed) {}

    private final LeafReader reader;
    private final IdCode code;
    private final BinaryDocValues values;
    private TermsEnum ids;
    private PostingsEnum documents;

    public StoredValues(LeafReader reader, IdCode code) throws IOException {
        this.reader = reader;
        this.code = code;
        values = reader.getBinaryDocValues(PackedField.NAME);
    }

    /** Reads a document's values. */
    public Values read(int document) throws IOException {
        byte[] packed = packed(document);
        String claimed = packed == null ? null : Packed.id(packed);
        boolean isOwn = claimed != null && isIdOf(claimed, document);
        return isOwn ? new Values(null, packed) : new Values(id(document), null);
    }

    /** Reads the packed value of a document, whosever it is; null without one. */
    public byte[] packed(int document) throws IOException {
        if (values == null || !values.advanceExact(document)) {
            return null;
        }
        BytesRef field = values.binaryValue();
        return PackedField.first(field.bytes, field.offset, field.length);
    }

    private boolean isIdOf(String id, int document) throws IOException {
        Terms terms = reader.terms(ID);
        ids = ids == null && terms != null ? terms.iterator() : ids;
        if (ids == null || !ids.seekExact(code.encode(id))) {
            return false;
        }
        documents = ids.postings(documents, PostingsEnum.NONE);
        return documents.advance(document) == document;
    }

    private String id(int document) throws IOException {
        BytesRef id = reader.storedFields().document(document, Set.of(ID)).getBinaryValue(ID);
        return code.decode(id.bytes, id.offset, id.length);
    }
}
