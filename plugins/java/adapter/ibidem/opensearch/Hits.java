package ibidem.opensearch;

import ibidem.core.PackedField;
import ibidem.core.ResultList;
import ibidem.lucene.Explanations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.TotalHits;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.DocValueFormat;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.search.SearchShardTarget;
import org.opensearch.search.builder.SearchSourceBuilder;

/** Makes the list to show: the page's documents as hits, each with its mark. */
final class Hits {
    private static final String MARK = "_dedupe";
    private static final String DUPLICATES = "duplicates";

    /** A place in the ranking, copied from a hit that the engine may release. */
    record Place(int docId, float score, Object[] sort, SearchShardTarget shard) {}

    private final ResultList<SearchHit, Place> list;
    private final SearchSourceBuilder search;
    private final boolean carryValues;

    Hits(ResultList<SearchHit, Place> list, SearchSourceBuilder search, boolean carryValues) {
        this.list = list;
        this.search = search;
        this.carryValues = carryValues;
    }

    /** Returns the list; who takes it has to let it go. */
    SearchHits list(TotalHits total) {
        return new SearchHits(hits().toArray(SearchHit[]::new), total, search.size() == 0 ? Float.NaN : list.highest());
    }

    private List<SearchHit> hits() {
        List<SearchHit> hits = new ArrayList<>();
        for (List<ResultList.Item<SearchHit, Place>> group : list.groups()) {
            SearchHit lead = hit(group.get(0));
            List<SearchHit> followers =
                    group.subList(1, group.size()).stream().map(this::hit).toList();
            hits.add(lead);
            if (list.collapse()) {
                carry(lead, followers, group.get(0).duplicates());
            } else {
                hits.addAll(followers);
            }
        }
        return hits;
    }

    /** Lets a lead carry its duplicates as native collapse does, itself left out. */
    private static void carry(SearchHit lead, List<SearchHit> followers, int all) {
        Map<String, SearchHits> inner =
                lead.getInnerHits() == null ? new HashMap<>() : new HashMap<>(lead.getInnerHits());
        TotalHits total = new TotalHits(all, TotalHits.Relation.EQUAL_TO);
        inner.put(DUPLICATES, new SearchHits(followers.toArray(SearchHit[]::new), total, Float.NaN));
        lead.setInnerHits(inner);
    }

    /** Makes a new hit: one from another node cannot be added to. */
    private SearchHit hit(ResultList.Item<SearchHit, Place> each) {
        SearchHit document = each.document();
        Place place = each.place();
        Map<String, DocumentField> meta = document == null ? new HashMap<>() : new HashMap<>(Engine.metadata(document));
        meta.put(MARK, new DocumentField(MARK, List.of(each.mark())));
        Map<String, DocumentField> fields =
                document == null ? new HashMap<>() : new HashMap<>(document.getDocumentFields());
        fields.remove(PackedField.GROUPS);
        if (carryValues) {
            fields.remove(PackedField.NAME);
        }
        SearchHit hit = Engine.hit(place.docId(), each.id(), fields, meta);
        hit.shard(place.shard());
        hit.score(place.score());
        if (document != null) {
            copy(document, hit);
        }
        if (search.sorts() != null) {
            Object[] values = place.sort();
            DocValueFormat[] formats = new DocValueFormat[values.length];
            Arrays.fill(formats, DocValueFormat.RAW);
            hit.sortValues(values, formats);
        }
        return hit;
    }

    private static void copy(SearchHit document, SearchHit hit) {
        Engine.copyOwned(document, hit);
        hit.highlightFields(document.getHighlightFields());
        hit.explanation(Explanations.asMatched(document.getExplanation()));
        hit.version(document.getVersion());
        hit.setSeqNo(document.getSeqNo());
        hit.setPrimaryTerm(document.getPrimaryTerm());
    }
}
