package ibidem.opensearch;

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
    private final SearchSourceBuilder asked;

    /**
     * @param list the hits that are shown
     * @param asked the search as it came
     */
    Answer(ResultList<SearchHit, SearchHit> list, SearchSourceBuilder asked) {
        this.list = list;
        this.asked = asked;
    }

    /**
     * Makes the response.
     *
     * @param first the answer to the first window, with aggregations and the like
     */
    SearchResponse response(SearchResponse first) {
        SearchHits hits = new SearchHits(
                hits().toArray(SearchHit[]::new),
                first.getHits().getTotalHits(),
                asked.size() == 0 ? Float.NaN : list.highest());
        InternalSearchResponse inside = new InternalSearchResponse(
                hits,
                (InternalAggregations) first.getAggregations(),
                first.getSuggest(),
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
        for (List<Shown<SearchHit, SearchHit>> group : list.groups()) {
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
    private SearchHit hit(Shown<SearchHit, SearchHit> each) {
        SearchHit held = each.document();
        SearchHit ranked = each.place();
        Map<String, DocumentField> meta = held == null ? new HashMap<>() : new HashMap<>(held.getMetaFields());
        meta.put(MARK, new DocumentField(MARK, List.of(each.mark())));
        Map<String, DocumentField> fields = held == null ? new HashMap<>() : new HashMap<>(held.getDocumentFields());
        fields.keySet().removeAll(ShardPage.FIELDS);
        SearchHit made = new SearchHit(ranked.docId(), each.id(), fields, meta);
        made.shard(ranked.getShard());
        made.score(ranked.getScore());
        if (held != null) {
            copy(held, made);
        }
        if (asked.sorts() != null) {
            Object[] values = ranked.getSortValues();
            DocValueFormat[] formats = new DocValueFormat[values.length];
            Arrays.fill(formats, DocValueFormat.RAW);
            made.sortValues(values, formats);
        }
        return made;
    }

    private static void copy(SearchHit held, SearchHit made) {
        made.sourceRef(held.getSourceRef());
        made.highlightFields(held.getHighlightFields());
        made.matchedQueriesWithScores(held.getMatchedQueriesAndScores());
        made.explanation(Explanations.asMatched(held.getExplanation()));
        made.version(held.getVersion());
        made.setSeqNo(held.getSeqNo());
        made.setPrimaryTerm(held.getPrimaryTerm());
        made.setInnerHits(held.getInnerHits());
    }
}
