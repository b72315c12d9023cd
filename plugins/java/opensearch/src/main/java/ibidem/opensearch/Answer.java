package ibidem.opensearch;

import ibidem.core.Item;
import ibidem.core.ResultList;
import ibidem.core.ShardPage;
import ibidem.lucene.Explanations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.TotalHits;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.DocValueFormat;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.search.aggregations.InternalAggregations;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.internal.InternalSearchResponse;
import org.opensearch.search.profile.SearchProfileShardResults;

/** Puts a response together: the first window's, with the page's documents as hits, their marks and the account. */
final class Answer {
    private static final String MARK = "_dedupe";
    private static final String DUPLICATES = "duplicates";

    private final ResultList<SearchHit, SearchHit> list;
    private final SearchSourceBuilder search;

    /**
     * @param list the hits that are shown
     * @param search the search as it came
     */
    Answer(ResultList<SearchHit, SearchHit> list, SearchSourceBuilder search) {
        this.list = list;
        this.search = search;
    }

    /**
     * Makes the response.
     *
     * @param first the response to the first window
     * @param others the response with the aggregations and suggestions
     */
    SearchResponse response(SearchResponse first, SearchResponse others) {
        SearchHits hits = new SearchHits(
                hits().toArray(SearchHit[]::new),
                first.getHits().getTotalHits(),
                search.size() == 0 ? Float.NaN : list.highest());
        InternalSearchResponse inside = new InternalSearchResponse(
                hits,
                (InternalAggregations) others.getAggregations(),
                others.getSuggest(),
                first.getProfileResults().isEmpty() ? null : new SearchProfileShardResults(first.getProfileResults()),
                first.isTimedOut(),
                first.isTerminatedEarly(),
                first.getNumReducePhases(),
                List.of(new DedupeExt(list.account())),
                List.of());
        return new SearchResponse(
                inside,
                null,
                first.getTotalShards(),
                first.getSuccessfulShards(),
                first.getSkippedShards(),
                list.tookMillis(),
                first.getShardFailures(),
                first.getClusters(),
                first.pointInTimeId());
    }

    private List<SearchHit> hits() {
        List<SearchHit> hits = new ArrayList<>();
        for (List<Item<SearchHit, SearchHit>> group : list.groups()) {
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
    private SearchHit hit(Item<SearchHit, SearchHit> each) {
        SearchHit document = each.document();
        SearchHit place = each.place();
        Map<String, DocumentField> meta = document == null ? new HashMap<>() : new HashMap<>(document.getMetaFields());
        meta.put(MARK, new DocumentField(MARK, List.of(each.mark())));
        Map<String, DocumentField> fields =
                document == null ? new HashMap<>() : new HashMap<>(document.getDocumentFields());
        fields.keySet().removeAll(ShardPage.FIELDS);
        SearchHit hit = new SearchHit(place.docId(), each.id(), fields, meta);
        hit.shard(place.getShard());
        hit.score(place.getScore());
        if (document != null) {
            copy(document, hit);
        }
        if (search.sorts() != null) {
            Object[] values = place.getSortValues();
            DocValueFormat[] formats = new DocValueFormat[values.length];
            Arrays.fill(formats, DocValueFormat.RAW);
            hit.sortValues(values, formats);
        }
        return hit;
    }

    private static void copy(SearchHit document, SearchHit hit) {
        hit.sourceRef(document.getSourceRef());
        hit.highlightFields(document.getHighlightFields());
        hit.matchedQueriesWithScores(document.getMatchedQueriesAndScores());
        hit.explanation(Explanations.asMatched(document.getExplanation()));
        hit.version(document.getVersion());
        hit.setSeqNo(document.getSeqNo());
        hit.setPrimaryTerm(document.getPrimaryTerm());
        hit.setInnerHits(document.getInnerHits());
    }
}
