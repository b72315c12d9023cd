package ibidem.opensearch;

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

    private final List<Shown> shown;
    private final SearchSourceBuilder asked;

    /**
     * @param shown the documents, each group's lead first
     * @param asked the search as it came
     */
    Answer(List<Shown> shown, SearchSourceBuilder asked) {
        this.shown = shown;
        this.asked = asked;
    }

    SearchResponse response(
            SearchResponse first, float score, boolean collapse, Map<String, Object> account, long tookMillis) {
        SearchHits hits = new SearchHits(
                hits(collapse).toArray(SearchHit[]::new),
                first.getHits().getTotalHits(),
                asked.size() == 0 ? Float.NaN : score);
        InternalSearchResponse inside = new InternalSearchResponse(
                hits,
                (InternalAggregations) first.getAggregations(),
                first.getSuggest(),
                first.getProfileResults().isEmpty() ? null : new SearchProfileShardResults(first.getProfileResults()),
                first.isTimedOut(),
                first.isTerminatedEarly(),
                first.getNumReducePhases(),
                List.of(new DedupeExt(account)),
                List.of());
        return new SearchResponse(
                inside,
                null,
                first.getTotalShards(),
                first.getSuccessfulShards(),
                first.getSkippedShards(),
                tookMillis,
                first.getShardFailures(),
                first.getClusters(),
                first.pointInTimeId());
    }

    private List<SearchHit> hits(boolean collapse) {
        List<SearchHit> hits = new ArrayList<>();
        for (int at = 0; at < shown.size(); ) {
            int end = at + 1;
            while (end < shown.size() && !shown.get(end).leads()) {
                end++;
            }
            SearchHit lead = hit(shown.get(at));
            List<SearchHit> following =
                    shown.subList(at + 1, end).stream().map(this::hit).toList();
            hits.add(lead);
            if (collapse) {
                carry(lead, following, shown.get(at).duplicates());
            } else {
                hits.addAll(following);
            }
            at = end;
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
    private SearchHit hit(Shown each) {
        SearchHit held = each.held();
        SearchHit ranked = each.ranked();
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
