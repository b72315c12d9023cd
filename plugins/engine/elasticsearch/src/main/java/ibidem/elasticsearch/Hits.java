package ibidem.elasticsearch;

import ibidem.core.Group;
import ibidem.core.Name;
import ibidem.core.Page;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.lucene.search.Explanation;
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
    /** How servers explain a filter, and that on ids. */
    private static final String REQUIRED = "match on required clause";

    private static final String IDS = "_id:";

    private final Ranked window;
    private final Page page;
    private final Map<Name, SearchHit> stored;
    private final SearchSourceBuilder asked;

    /**
     * @param window its hits
     * @param page what of it is shown
     * @param stored the documents that are shown, as hits hold them
     * @param asked the search as it came
     */
    Hits(Ranked window, Page page, Map<Name, SearchHit> stored, SearchSourceBuilder asked) {
        this.window = window;
        this.page = page;
        this.stored = stored;
        this.asked = asked;
    }

    /** Returns the list; who takes it has to let it go. */
    SearchHits list(SearchHits ranked, boolean collapse) {
        return new SearchHits(
                hits(collapse).toArray(SearchHit[]::new),
                ranked.getTotalHits(),
                asked.size() == 0 ? Float.NaN : ranked.getMaxScore());
    }

    private List<SearchHit> hits(boolean collapse) {
        List<SearchHit> hits = new ArrayList<>();
        for (Group group : page.groups()) {
            SearchHit lead = hit(group, group.lead());
            List<SearchHit> following =
                    group.following().stream().map(row -> hit(group, row)).toList();
            hits.add(lead);
            if (collapse) {
                carry(lead, following, group.duplicates().size());
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
    private SearchHit hit(Group group, int row) {
        Name name = window.rows().names.get(row);
        SearchHit held = stored.get(name);
        Ranked.Place ranked = window.places()[row];
        Map<String, DocumentField> meta = held == null ? new HashMap<>() : new HashMap<>(held.getMetadataFields());
        meta.put(MARK, new DocumentField(MARK, List.of(page.mark(group, row, held != null))));
        SearchHit made = new SearchHit(ranked.docId(), name.id());
        made.addDocumentFields(held == null ? Map.of() : held.getDocumentFields(), meta);
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
        made.explanation(asMatched(held.getExplanation()));
        made.version(held.getVersion());
        made.setSeqNo(held.getSeqNo());
        made.setPrimaryTerm(held.getPrimaryTerm());
        if (held.getInnerHits() != null) {
            held.getInnerHits().values().forEach(SearchHits::mustIncRef);
            made.setInnerHits(held.getInnerHits());
        }
    }

    /** Takes what was put around the query out of a hit's explanation: the ids, and what keeps nested documents out. */
    private static Explanation asMatched(Explanation explained) {
        Explanation told = explained;
        while (told != null && told.getDescription().equals("sum of:")) {
            Map<Boolean, List<Explanation>> parts = Arrays.stream(told.getDetails())
                    .collect(Collectors.partitioningBy(
                            part -> part.getDescription().startsWith(REQUIRED)));
            if (parts.get(false).size() != 1 || parts.get(true).isEmpty()) {
                break;
            }
            told = parts.get(false).get(0);
            if (parts.get(true).stream()
                    .flatMap(part -> Arrays.stream(part.getDetails()))
                    .anyMatch(part -> part.getDescription().contains(IDS))) {
                break;
            }
        }
        return told;
    }
}
