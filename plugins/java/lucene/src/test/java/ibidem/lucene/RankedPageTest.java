package ibidem.lucene;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ibidem.core.Memory;
import ibidem.core.ShardPage;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Of the hits that a shard ranked only those of the page go on, whichever segments they lie in. */
class RankedPageTest {
    private static final Map<String, String> INDENT = Map.of("dedupe", "indent");

    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private DirectoryReader reader;
    private long memoryBytes;

    private final Memory memory = new Memory() {
        @Override
        public void take(long bytes, String what) {
            assertTrue(bytes > 0);
            memoryBytes += bytes;
        }

        @Override
        public void free(long bytes) {
            memoryBytes -= bytes;
        }
    };

    /** Six documents that were never signed, in three segments. */
    @BeforeEach
    void index() throws IOException {
        try (IndexWriter writer =
                new IndexWriter(directory, new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE))) {
            for (int at = 0; at < 6; at++) {
                Document document = new Document();
                document.add(new StoredField("_id", new BytesRef("d" + at)));
                writer.addDocument(document);
                if (at % 2 == 1) {
                    writer.commit();
                }
            }
        }
        reader = DirectoryReader.open(directory);
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
        directory.close();
    }

    private static TopDocs topDocs(int... documents) {
        ScoreDoc[] hits = new ScoreDoc[documents.length];
        for (int at = 0; at < hits.length; at++) {
            hits[at] = new ScoreDoc(documents[at], documents.length - at);
        }
        return new TopDocs(new TotalHits(hits.length, TotalHits.Relation.EQUAL_TO), hits);
    }

    private RankedPage page(int from, int size) {
        ShardPage.Spec spec = new ShardPage.Spec(INDENT, from, size, 10_000, "plugin");
        return new RankedPage(spec, "index", StoredValuesTest.CODE, new ConfirmedIds(), memory);
    }

    @Test
    void onlyTheHitsOfThePageLeaveTheShard() throws IOException {
        RankedPage page = page(2, 2);
        assertFalse(page.isMade());
        TopDocs left = page.make(topDocs(5, 0, 3, 1, 4, 2), new IndexSearcher(reader));
        assertTrue(page.isMade());
        assertArrayEquals(
                new int[] {3, 1},
                Arrays.stream(left.scoreDocs).mapToInt(hit -> hit.doc).toArray());
        assertNotNull(page.valuesOfHit(3));
        assertNull(page.valuesOfHit(5));
        assertEquals(ShardPage.Outcome.WHOLE, ShardPage.Reply.of(page.values(3)).outcome());
        assertNull(page.values(1));
        assertEquals(0, memoryBytes);
    }

    @Test
    void noPageIsMadeOfNoHits() throws IOException {
        RankedPage page = page(0, 2);
        TopDocs none = topDocs();
        assertEquals(none, page.make(none, new IndexSearcher(reader)));
        assertFalse(page.isMade());
    }
}
