package ibidem.lucene;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ibidem.core.PackedField;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A packed value counts where the segment's ids say that it is the document's own. */
class StoredValuesTest {
    static final StoredValues.IdCode CODE = new StoredValues.IdCode() {
        @Override
        public String decode(byte[] bytes, int offset, int length) {
            return new String(bytes, offset, length, StandardCharsets.UTF_8);
        }

        @Override
        public BytesRef encode(String id) {
            return new BytesRef(id);
        }
    };

    private static final int HEAD = 103; // bytes of a value of scheme 3 before its terms
    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();

    @AfterEach
    void close() throws IOException {
        directory.close();
    }

    /** Makes a value without words that names a document. */
    static byte[] packed(String id) {
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        value.write(4);
        value.write(14);
        value.writeBytes(new byte[HEAD]); // the rest of the head, no terms, no slots
        value.write(id.length());
        value.write(0);
        value.writeBytes(id.getBytes(StandardCharsets.UTF_8));
        return value.toByteArray();
    }

    static Document document(String id, byte[] packed) {
        Document document = new Document();
        document.add(new StringField("_id", new BytesRef(id), Field.Store.NO));
        document.add(new StoredField("_id", new BytesRef(id)));
        if (packed != null) {
            ByteArrayOutputStream field = new ByteArrayOutputStream();
            field.write(1);
            field.write(packed.length & 0x7F | 0x80);
            field.write(packed.length >> 7);
            field.writeBytes(packed);
            document.add(new BinaryDocValuesField(PackedField.NAME, new BytesRef(field.toByteArray())));
        }
        return document;
    }

    private StoredValues.Values[] read(Document... documents) throws IOException {
        IndexWriterConfig config = new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (Document document : documents) {
                writer.addDocument(document);
            }
        }
        StoredValues.Values[] values = new StoredValues.Values[documents.length];
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            StoredValues segment = new StoredValues(reader.leaves().get(0).reader(), CODE);
            for (int at = 0; at < values.length; at++) {
                values[at] = segment.read(at);
            }
        }
        return values;
    }

    @Test
    void aValueThatNamesItsDocumentIsReadAndOneThatNamesAnotherIsNoneAndTheIdIsTheEngines() throws IOException {
        StoredValues.Values[] values = read(
                document("secret", packed("secret")),
                document("forged", packed("secret")),
                document("far", packed("x")));
        assertEquals("forged", values[1].id());
        assertNull(values[1].packed());
        assertEquals("far", values[2].id());
        assertNull(values[2].packed());
        assertNull(values[0].id());
        assertArrayEquals(packed("secret"), values[0].packed());
    }

    @Test
    void aDamagedValueIsNoneAndSoIsAMissingOne() throws IOException {
        StoredValues.Values[] values = read(document("cut", new byte[] {2, 14, 0}), document("bare", null));
        assertEquals("cut", values[0].id());
        assertNull(values[0].packed());
        assertEquals("bare", values[1].id());
        assertNull(values[1].packed());
    }

    @Test
    void aDocumentThatWasWrittenTwiceIsReadInItsNewestState() throws IOException {
        IndexWriterConfig config = new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            writer.addDocument(document("one", packed("one")));
            writer.updateDocument(new Term("_id", "one"), document("one", packed("one")));
            writer.addDocument(document("two", packed("one")));
        }
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            StoredValues segment = new StoredValues(reader.leaves().get(0).reader(), CODE);
            assertArrayEquals(packed("one"), segment.read(1).packed());
            assertNull(segment.read(2).packed());
        }
    }
}
