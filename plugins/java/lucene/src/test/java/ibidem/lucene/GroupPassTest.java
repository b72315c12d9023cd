package ibidem.lucene;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ibidem.core.SharedMatches;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.Weight;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One pass finds the groups that a look at all hits in their order finds, whatever orders them. */
class GroupPassTest {
    private static final String GROUP = "group";
    private static final int DOCUMENTS = 400;

    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private DirectoryReader reader;
    private String[] groupOf;

    /** Documents in segments of 90, some deleted, one in eight without a group, the others in groups of one to many. */
    @BeforeEach
    void index() throws IOException {
        Random random = new Random(7);
        try (IndexWriter writer =
                new IndexWriter(directory, new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE))) {
            for (int at = 0; at < DOCUMENTS; at++) {
                Document document = new Document();
                document.add(new StringField("id", "d" + at, Field.Store.NO));
                document.add(new StringField("word", random.nextInt(3) == 0 ? "rare" : "frequent", Field.Store.NO));
                document.add(new NumericDocValuesField("day", random.nextInt(40)));
                if (random.nextInt(5) > 0) {
                    document.add(new SortedDocValuesField("name", new BytesRef("n" + random.nextInt(30))));
                }
                if (random.nextInt(8) > 0) {
                    int group = random.nextInt(3) == 0 ? random.nextInt(12) : 100 + random.nextInt(300);
                    document.add(new SortedSetDocValuesField(GROUP, new BytesRef("g" + group)));
                }
                writer.addDocument(document);
                if (at % 90 == 89) {
                    writer.commit();
                }
            }
            for (int at = 0; at < DOCUMENTS; at += 9) {
                writer.deleteDocuments(new Term("id", "d" + at));
            }
        }
        reader = DirectoryReader.open(directory);
        groupOf = new String[reader.maxDoc()];
        SortedSetDocValues values = MultiDocValues.getSortedSetValues(reader, GROUP);
        for (int doc = 0; doc < reader.maxDoc(); doc++) {
            if (values.advanceExact(doc)) {
                groupOf[doc] = values.lookupOrd(values.nextOrd()).utf8ToString();
            }
        }
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
        directory.close();
    }

    static Stream<Arguments> searches() {
        List<Query> queries = List.of(
                MatchAllDocsQuery.INSTANCE,
                new TermQuery(new Term("word", "rare")),
                new TermQuery(new Term("word", "absent")));
        SortField name = new SortField("name", SortField.Type.STRING, true, SortField.STRING_LAST);
        List<Sort> sorts = Arrays.asList(
                null,
                new Sort(new SortField("day", SortField.Type.INT), SortField.FIELD_SCORE),
                new Sort(name, new SortField("day", SortField.Type.LONG, true)),
                new Sort(SortField.FIELD_SCORE, SortField.FIELD_DOC));
        List<Arguments> searches = new ArrayList<>();
        for (Query query : queries) {
            for (Sort sort : sorts) {
                for (int[] page : new int[][] {{0, 10}, {7, 5}, {200, 50}, {0, 1_000}}) {
                    for (int parts : new int[] {1, 3}) {
                        searches.add(Arguments.of(query, sort, page[0], page[1], parts));
                    }
                }
            }
        }
        return searches.stream();
    }

    @ParameterizedTest
    @MethodSource("searches")
    void thePassFindsWhatALookAtAllHitsFinds(Query query, Sort sort, int from, int size, int parts) throws IOException {
        IndexSearcher searcher = new IndexSearcher(reader);
        ScoreDoc[] ranked = sort == null
                ? searcher.search(query, DOCUMENTS).scoreDocs
                : searcher.search(query, DOCUMENTS, sort).scoreDocs;
        Map<String, List<Integer>> expected = new LinkedHashMap<>();
        Map<Integer, Object> shown = new HashMap<>();
        int ungrouped = 0;
        for (ScoreDoc hit : ranked) {
            String group = groupOf[hit.doc] == null ? "alone " + hit.doc : groupOf[hit.doc];
            ungrouped += groupOf[hit.doc] == null ? 1 : 0;
            expected.computeIfAbsent(group, absent -> new ArrayList<>()).add(hit.doc);
            shown.put(hit.doc, value(hit));
        }
        SharedGroups groups = new SharedGroups.Cache().of(reader, GROUP);
        GroupPass.Result result = run(searcher, query, new GroupPass.Spec(groups, sort, from, size, false), parts);

        assertEquals(ranked.length, result.matched());
        assertEquals(expected.size(), result.all());
        assertEquals(ungrouped, result.ungrouped());
        List<List<Integer>> page = new ArrayList<>();
        for (SharedMatches.Group group : result.groups().page()) {
            page.add(group.members().stream()
                    .map(entry -> result.matches().document(entry))
                    .toList());
            group.members()
                    .forEach(entry ->
                            assertEquals(shown.get(result.matches().document(entry)), value(result.hits()[entry])));
        }
        assertEquals(expected.values().stream().skip(from).limit(size).toList(), page);
    }

    private static Object value(ScoreDoc hit) {
        return hit instanceof org.apache.lucene.search.FieldDoc sorted ? Arrays.asList(sorted.fields) : hit.score;
    }

    /** Runs a pass, the segments dealt out to its parts. */
    private GroupPass.Result run(IndexSearcher searcher, Query query, GroupPass.Spec spec, int parts)
            throws IOException {
        List<GroupPass> passes =
                Stream.generate(() -> new GroupPass(spec)).limit(parts).toList();
        ScoreMode mode = passes.get(0).scoreMode();
        Weight weight = searcher.createWeight(searcher.rewrite(query), mode, 1);
        for (LeafReaderContext leaf : reader.leaves()) {
            LeafCollector collector = passes.get(leaf.ord % parts).getLeafCollector(leaf);
            Scorer scorer = weight.scorer(leaf);
            if (scorer == null) {
                continue;
            }
            collector.setScorer(scorer);
            for (int doc = scorer.iterator().nextDoc();
                    doc < leaf.reader().maxDoc();
                    doc = scorer.iterator().nextDoc()) {
                if (leaf.reader().getLiveDocs() == null
                        || leaf.reader().getLiveDocs().get(doc)) {
                    collector.collect(doc);
                }
            }
        }
        return GroupPass.finish(passes, reader.leaves());
    }
}
