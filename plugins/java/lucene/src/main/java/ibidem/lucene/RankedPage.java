package ibidem.lucene;

import ibidem.core.Memory;
import ibidem.core.Rows;
import ibidem.core.ShardPage;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;

/** A page under way on its shard: it is made of the hits that were ranked, of which only those that it shows go on. */
public final class RankedPage {
    private final ShardPage.Spec spec;
    private final String index;
    private final StoredValues.IdCode code;
    private final ConfirmedIds confirmed;
    private final Memory memory;
    private int[] documents;
    private ShardPage page;

    /**
     * @param spec which page
     * @param index the shard's
     * @param code the engine's, of ids
     * @param confirmed the documents whose ids were looked up before
     * @param memory counts that of windows
     */
    public RankedPage(
            ShardPage.Spec spec, String index, StoredValues.IdCode code, ConfirmedIds confirmed, Memory memory) {
        this.spec = spec;
        this.index = index;
        this.code = code;
        this.confirmed = confirmed;
        this.memory = memory;
    }

    /** Returns whether the page was made: a shard that fetches later than it ranks does so without it. */
    public boolean isMade() {
        return page != null;
    }

    /** Returns the fields that a document carries to the coordinating node; null if it is not on the page. */
    public Map<String, Object> valuesOfHit(int document) {
        return page.values(place(document));
    }

    /** Returns the fields of the page that the first hit carries; null for other hits. */
    public Map<String, Object> values(int document) {
        return place(document) == page.hits()[0] ? page.values() : null;
    }

    private int place(int document) {
        for (int at : page.hits()) {
            if (documents[at] == document) {
                return at;
            }
        }
        return -1;
    }

    /** Makes the page of the best hits, and returns the hits that leave the shard. */
    public TopDocs make(TopDocs topDocs, IndexSearcher searcher) throws IOException {
        ScoreDoc[] hits = topDocs.scoreDocs;
        if (hits.length == 0) {
            return topDocs;
        }
        documents = new int[hits.length];
        float[] scores = new float[hits.length];
        for (int at = 0; at < hits.length; at++) {
            documents[at] = hits[at].doc;
            scores[at] = hits[at].score;
        }
        long bytes = spec.request().bytes(hits.length);
        memory.take(bytes, Memory.WINDOW);
        try {
            Rows.Builder rows = read(searcher.getIndexReader().leaves(), scores);
            page = ShardPage.of(rows, scores, topDocs.totalHits.value(), spec);
        } finally {
            memory.free(bytes);
        }
        ScoreDoc[] pageHits =
                Arrays.stream(page.hits()).mapToObj(at -> hits[at]).toArray(ScoreDoc[]::new);
        return new TopDocs(topDocs.totalHits, pageHits);
    }

    /** Reads ids and packed values, segment by segment. */
    private Rows.Builder read(List<LeafReaderContext> leaves, float[] scores) throws IOException {
        StoredValues.Values[] values = new StoredValues.Values[documents.length];
        LeafReaderContext leaf = null;
        StoredValues segment = null;
        for (int at : ShardPage.ascending(documents)) {
            if (leaf == null || documents[at] >= leaf.docBase + leaf.reader().maxDoc()) {
                leaf = leaves.get(ReaderUtil.subIndex(documents[at], leaves));
                segment = new StoredValues(leaf.reader(), code, confirmed);
            }
            values[at] = segment.read(documents[at] - leaf.docBase);
        }
        Rows.Builder rows = new Rows.Builder();
        for (int at = 0; at < documents.length; at++) {
            if (values[at].packed() == null) {
                rows.add(index, values[at].id(), scores[at], null);
            } else {
                rows.addOwn(index, scores[at], values[at].packed());
            }
        }
        return rows;
    }
}
