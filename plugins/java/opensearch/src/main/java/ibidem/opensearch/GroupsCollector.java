package ibidem.opensearch;

import ibidem.core.FoundGroups;
import ibidem.core.PackedField;
import ibidem.lucene.GroupPass;
import ibidem.lucene.ShardGroups;
import ibidem.lucene.SharedGroups;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.opensearch.common.document.DocumentField;
import org.opensearch.common.lucene.search.TopDocsAndMaxScore;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.search.query.QueryCollectorContextSpec;
import org.opensearch.search.query.QuerySearchResult;
import org.opensearch.search.query.ReduceableSearchResult;

/** In place of the engine's own collector: one pass whose hits are the documents of the page's groups, group by group. */
final class GroupsCollector implements QueryCollectorContextSpec, CollectorManager<GroupPass, ReduceableSearchResult> {
    private final GroupsExt ext;
    private final SearchContext context;
    private final GroupPass.Spec spec;
    private GroupPass only;

    private GroupsCollector(GroupsExt ext, SearchContext context, SharedGroups shared) {
        this.ext = ext;
        this.context = context;
        Sort sort = context.sort() == null ? null : context.sort().sort;
        spec = ext.spec().pass(shared, sort);
    }

    /** Takes the place of the engine's collector where a search asks for it. */
    static Optional<QueryCollectorContextSpec> of(SearchContext context, SharedGroups.Cache cache) throws IOException {
        return context.getSearchExt(GroupsExt.NAME) instanceof GroupsExt ext
                ? Optional.of(new GroupsCollector(
                        ext,
                        context,
                        cache.of(context.searcher().getIndexReader(), ext.spec().field())))
                : Optional.empty();
    }

    @Override
    public String getContextName() {
        return GroupsExt.NAME;
    }

    @Override
    public Collector create(Collector in) {
        only = newCollector();
        return only;
    }

    @Override
    public CollectorManager<?, ReduceableSearchResult> createManager(CollectorManager<?, ReduceableSearchResult> in) {
        return this;
    }

    @Override
    public GroupPass newCollector() {
        return new GroupPass(spec);
    }

    @Override
    public ReduceableSearchResult reduce(Collection<GroupPass> parts) {
        return result -> put(parts, result);
    }

    @Override
    public void postProcess(QuerySearchResult result) throws IOException {
        if (only != null) {
            put(List.of(only), result);
        }
    }

    private void put(Collection<GroupPass> parts, QuerySearchResult result) throws IOException {
        List<LeafReaderContext> leaves = context.searcher().getIndexReader().leaves();
        GroupPass.Result pass = GroupPass.finish(parts, leaves);
        ShardGroups found = ShardGroups.of(
                pass,
                null,
                leaves,
                ext.spec().field(),
                ext.spec().from(),
                ext.spec().members());
        ScoreDoc[] documents = found.documents();
        if (documents.length == 0 && found.matches() > 0) { // a page behind the last group: any hit carries the counts
            documents = new ScoreDoc[] {carrier(pass.matches().document(0))};
        }
        context.addSearchExt(ext.with(found, documents.length == 0 ? 0 : documents[0].doc));
        TotalHits total = new TotalHits(found.matches(), TotalHits.Relation.EQUAL_TO);
        TopDocs top = context.sort() == null
                ? new TopDocs(total, documents)
                : new TopFieldDocs(total, documents, context.sort().sort.getSort());
        result.topDocs(
                new TopDocsAndMaxScore(top, found.highest()), context.sort() == null ? null : context.sort().formats);
    }

    private ScoreDoc carrier(int document) {
        if (context.sort() == null) {
            return new ScoreDoc(document, 0);
        }
        SortField[] sort = context.sort().sort.getSort();
        Object[] values = new Object[sort.length];
        for (int at = 0; at < sort.length; at++) {
            values[at] = sort[at].getType() == SortField.Type.SCORE ? Float.valueOf(0) : null;
        }
        return new FieldDoc(document, Float.NaN, values);
    }

    /** Puts what the shard found onto the first hit. */
    static final class Fetch implements FetchSubPhase {
        @Override
        public FetchSubPhaseProcessor getProcessor(FetchContext context) {
            return context.getSearchExt(GroupsExt.NAME) instanceof GroupsExt ext && ext.found() != null
                    ? new Carrier(ext.found(), ext.carrier())
                    : null;
        }
    }

    private record Carrier(ShardGroups found, int document) implements Engine.FieldReader {
        @Override
        public void setNextReader(LeafReaderContext reader) {}

        @Override
        public void process(FetchSubPhase.HitContext hit) {
            if (document == hit.hit().docId()) {
                Map<String, Object> values = Map.of(
                        "groups", found.groups(),
                        "names", Arrays.asList(found.names()),
                        "counts", found.counts(),
                        "shown", found.shown());
                hit.hit().setDocumentField(PackedField.GROUPS, new DocumentField(PackedField.GROUPS, List.of(values)));
            }
        }
    }

    /** Reads what the only shard found from its hits, and the groups of a page of some size. */
    static FoundGroups<SearchHit> read(SearchHits all, int size) {
        List<FoundGroups.Found<SearchHit>> page = new ArrayList<>();
        long groups = 0;
        SearchHit[] hits = all.getHits();
        DocumentField found = hits.length == 0 ? null : hits[0].field(PackedField.GROUPS);
        if (found != null) {
            Map<String, Object> values = found.getValue();
            List<?> names = (List<?>) values.get("names");
            int[] shown = (int[]) values.get("shown");
            groups = (Long) values.get("groups");
            for (int at = 0, from = 0; at < Math.min(size, names.size()); from += shown[at++]) {
                List<SearchHit> own = Arrays.asList(hits).subList(from, from + shown[at]);
                page.add(new FoundGroups.Found<>((String) names.get(at), ((int[]) values.get("counts"))[at], own));
            }
        }
        return new FoundGroups<>(all.getTotalHits().value(), groups, true, all.getMaxScore(), page);
    }
}
