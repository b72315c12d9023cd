package ibidem.lucene;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The id of a document is looked up once, and a value that names another document is never taken for its own. */
class ConfirmedIdsTest {
    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private final ConfirmedIds confirmed = new ConfirmedIds();
    private DirectoryReader reader;
    private int lookUps;

    private final StoredValues.IdCode code = new StoredValues.IdCode() {
        @Override
        public String decode(byte[] bytes, int offset, int length) {
            return StoredValuesTest.CODE.decode(bytes, offset, length);
        }

        @Override
        public BytesRef encode(String id) {
            lookUps++;
            return StoredValuesTest.CODE.encode(id);
        }
    };

    /** Seventy documents, of which the last holds the value of the first. */
    @BeforeEach
    void index() throws IOException {
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig())) {
            for (int at = 0; at < 70; at++) {
                writer.addDocument(
                        StoredValuesTest.document("d" + at, StoredValuesTest.packed(at == 69 ? "d0" : "d" + at)));
            }
        }
        reader = DirectoryReader.open(directory);
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
        directory.close();
    }

    private StoredValues values() throws IOException {
        LeafReader segment = reader.leaves().get(0).reader();
        return new StoredValues(segment, code, confirmed);
    }

    @Test
    void aDocumentIsLookedUpOnce() throws IOException {
        for (int search = 0; search < 3; search++) {
            StoredValues values = values();
            assertArrayEquals(StoredValuesTest.packed("d3"), values.read(3).packed());
            assertArrayEquals(StoredValuesTest.packed("d67"), values.read(67).packed());
        }
        assertEquals(2, lookUps);
    }

    @Test
    void aValueThatNamesAnotherDocumentIsLookedUpInEachSearch() throws IOException {
        for (int search = 0; search < 3; search++) {
            StoredValues values = values();
            assertArrayEquals(StoredValuesTest.packed("d0"), values.read(0).packed());
            assertNull(values.read(69).packed());
            assertEquals("d69", values.read(69).id());
        }
        assertEquals(1 + 2 * 3, lookUps);
    }

    @Test
    void nothingIsKeptOfASegmentThatIsClosed() throws IOException {
        values().read(0);
        assertEquals(1, confirmed.size());
        reader.close();
        assertEquals(0, confirmed.size());
    }
}
