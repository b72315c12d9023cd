package ibidem.elasticsearch;

import ibidem.core.ResultList;
import ibidem.core.ShardPage;
import ibidem.core.Shown;
import ibidem.lucene.Explanations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.search.DocValueFormat;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.builder.SearchSourceBuilder;

/** Makes the list to show: the page's documents as hits, each with its mark. */
final class Hits {
    private static final String MARK = "_dedupe";
    private static final String DUPLICATES = "duplicates";

    private final ResultList<SearchHit, Place> list;
    private final SearchSourceBuilder asked;

    /**
     * @param list the hits that are shown
     * @param asked the search as it came
     */
    Hits(ResultList<SearchHit, Place> list, SearchSourceBuilder asked) {
        this.list = list;
        this.asked = asked;
    }

    /** Returns the list; who takes it has to let it go. */
    SearchHits list(TotalHits matched) {
        return new SearchHits(
                hits().toArray(SearchHit[]::new), matched, asked.size() == 0 ? Float.NaN : list.highest());
    }

    private List<SearchHit> hits() {
        List<SearchHit> hits = new ArrayList<>();
        for (List<Shown<SearchHit, Place>> group : list.groups()) {
            SearchHit lead = hit(group.get(0));
            List<SearchHit> following =
                    group.subList(1, group.size()).stream().map(this::hit).toList();
            hits.add(lead);
            if (list.collapse()) {
                carry(lead, following, group.get(0).duplicates());
            } else {
                hits.addAll(following);
            }
        }
        return hits;
    }

    /** Lets a lead carry its duplicates as native collapse does, itself left out. */
    private static void carry(SearchHit lead, List<SearchHit> following, int all) {
        Map<String, SearchHits> inner =
                lead.getInnerHits() == null ? new HashMap<>() : new HashMap<>(lead.getInnerHits());
        TotalHits total = new TotalHits(all, TotalHits.Relation.EQUAL_TO);
        inner.put(DUPLICATES, new SearchHits(following.toArray(SearchHit[]::new), total, Float.NaN));
        lead.setInnerHits(inner);
    }

    /** Makes a new hit: one from another node cannot be added to. */
    private SearchHit hit(Shown<SearchHit, Place> each) {
        SearchHit held = each.document();
        Place ranked = each.place();
        Map<String, DocumentField> meta = held == null ? new HashMap<>() : new HashMap<>(held.getMetadataFields());
        meta.put(MARK, new DocumentField(MARK, List.of(each.mark())));
        Map<String, DocumentField> fields = held == null ? new HashMap<>() : new HashMap<>(held.getDocumentFields());
        fields.keySet().removeAll(ShardPage.FIELDS);
        SearchHit made = new SearchHit(ranked.docId(), each.id());
        made.addDocumentFields(fields, meta);
        made.shard(ranked.shard());
        made.score(ranked.score());
        if (held != null) {
            copy(held, made);
        }
        if (asked.sorts() != null) {
            Object[] values = ranked.sort();
            DocValueFormat[] formats = new DocValueFormat[values.length];
            Arrays.fill(formats, DocValueFormat.RAW);
            made.sortValues(values, formats);
        }
        return made;
    }

    private static void copy(SearchHit held, SearchHit made) {
        if (held.hasSource()) {
            made.sourceRef(new BytesArray(held.getSourceRef().toBytesRef(), true)); // those of the answer are let go
        }
        made.highlightFields(held.getHighlightFields());
        made.matchedQueries(held.getMatchedQueriesAndScores());
        made.explanation(Explanations.asMatched(held.getExplanation()));
        made.version(held.getVersion());
        made.setSeqNo(held.getSeqNo());
        made.setPrimaryTerm(held.getPrimaryTerm());
        if (held.getInnerHits() != null) {
            held.getInnerHits().values().forEach(SearchHits::mustIncRef);
            made.setInnerHits(held.getInnerHits());
        }
    }
}
