package ibidem.lucene;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KeywordField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.junit.jupiter.api.Test;

/** Groups that are carried on from one refresh to the next are those of the documents that are there. */
class SharedGroupsTest {
    private static final int KEPT = 2_000;

    @Test
    void documentsHaveOneNumberIfAndOnlyIfTheyShareTheirGroup() throws IOException {
        for (int seed = 0; seed < 5; seed++) {
            Random random = new Random(seed);
            SharedGroups.Cache cache = new SharedGroups.Cache();
            try (ByteBuffersDirectory directory = new ByteBuffersDirectory();
                    IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig())) {
                int next = 0;
                for (; next < KEPT; next++) {
                    writer.addDocument(document(next, random));
                }
                for (int refresh = 0; refresh < 60; refresh++) {
                    for (int added = random.nextInt(12); added > 0; added--) {
                        int id = random.nextInt(3) > 0 ? next++ : random.nextInt(next);
                        writer.updateDocument(new Term("id", Integer.toString(id)), document(id, random));
                    }
                    try (DirectoryReader reader = DirectoryReader.open(writer)) {
                        check(cache.of(reader, "group"), reader.leaves());
                    }
                }
            }
        }
    }

    private static Document document(int id, Random random) {
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(id), Field.Store.NO));
        if (random.nextInt(20) > 0) {
            document.add(new KeywordField("group", "group " + random.nextInt(2 * KEPT), Field.Store.NO));
        }
        return document;
    }

    private static void check(SharedGroups groups, List<LeafReaderContext> leaves) throws IOException {
        Map<String, List<Integer>> numbers = new HashMap<>();
        for (LeafReaderContext leaf : leaves) {
            SortedSetDocValues values = DocValues.getSortedSet(leaf.reader(), "group");
            for (int document = 0; document < leaf.reader().maxDoc(); document++) {
                int number = groups.leaf(leaf).number(document);
                if (values.advanceExact(document)) {
                    String name = values.lookupOrd(values.nextOrd()).utf8ToString();
                    numbers.computeIfAbsent(name, none -> new ArrayList<>()).add(number);
                } else {
                    assertEquals(-1, number);
                }
            }
        }
        Map<Integer, String> names = new HashMap<>();
        numbers.forEach((name, all) -> {
            int number = all.get(0);
            assertTrue(number < groups.count());
            assertTrue(all.size() == 1 || number >= 0);
            all.forEach(each -> assertEquals(number, each));
            assertTrue(number < 0 || names.put(number, name) == null);
        });
    }
}
