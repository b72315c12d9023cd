package ibidem.opensearch;

import ibidem.core.InnerSearches;
import ibidem.core.LedgerCache;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.lucene.GroupSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.support.IndicesOptions;
import org.opensearch.index.query.BoolQueryBuilder;
import org.opensearch.index.query.IdsQueryBuilder;
import org.opensearch.index.query.MatchNoneQueryBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryBuilders;
import org.opensearch.search.SearchExtBuilder;
import org.opensearch.search.aggregations.AggregationBuilder;
import org.opensearch.search.aggregations.metrics.TopHitsAggregationBuilder;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.sort.SortBuilders;
import org.opensearch.search.sort.SortOrder;
import org.opensearch.search.suggest.completion.CompletionSuggestionBuilder;

/** The searches that one search is made of: its window, and the documents that are shown. */
final class InnerRequests {
    private static final String NO_FIELDS = "_none_";

    private final SearchRequest request;
    private final SearchSourceBuilder search;
    private final boolean bytes;
    private final InnerHits innerHits;

    InnerRequests(SearchRequest request, boolean bytes, InnerHits innerHits) {
        this.request = request;
        this.search = request.source();
        this.bytes = bytes;
        this.innerHits = innerHits;
    }

    /** Returns whether ties are put in order by index and id: where the engine orders by score alone. */
    boolean byScoreAlone() {
        return search.sorts() == null && !isRescored() && !Engine.isRetrieved(search);
    }

    /** Returns whether the top of each shard is ranked again, so that another depth may be another ranking. */
    boolean isRescored() {
        return search.rescores() != null;
    }

    /** Asks for a window: the ranking, aggregations and the like, and of each hit only its packed value. */
    SearchRequest window(InnerSearches.Depth depth) {
        SearchSourceBuilder source = ranking(depth);
        source.fetchSource(false);
        if (bytes) {
            source.storedField(NO_FIELDS).ext(extensions(new WindowExt(null, null)));
        } else {
            source.docValueField(PackedField.NAME);
        }
        return Engine.rankAs(request, copy(source));
    }

    /** Asks the shards to group all matches, or those of some groups, and to show the hits of the page. */
    SearchRequest pass(GroupSpec spec, Collection<String> only) {
        SearchSourceBuilder source = matches(search.query(), true);
        source.size(0).trackTotalHits(false).ext(extensions(new WindowExt(spec, null)));
        if (only != null) {
            BoolQueryBuilder filter = QueryBuilders.boolQuery().filter(QueryBuilders.termsQuery(spec.field(), only));
            source.postFilter(search.postFilter() == null ? filter : filter.filter(search.postFilter()));
        } else {
            source.profile(search.profile()).postFilter(search.postFilter());
            addAggregations(source);
        }
        show(source);
        Engine.addPass(source, spec, search.sorts() == null ? List.of() : search.sorts());
        return Engine.rankAs(request, copy(source)).requestCache(false); // which keeps no hits
    }

    /** Returns a part of the search that a window alone can be combined with; empty if there is none. */
    String partOfWindows() {
        if (isRescored() || search.timeout() != null) {
            return isRescored() ? "rescore" : "timeout";
        }
        if (Engine.ranksAsAWhole(search) || Engine.isRetrieved(search)) {
            return "a ranking made of several";
        }
        return bytes ? "" : "a node without this plugin";
    }

    /** Asks for the best hits, and for aggregations and the like. */
    private SearchSourceBuilder ranking(InnerSearches.Depth depth) {
        SearchSourceBuilder source = matches(innerHits.drop(search.query()), false);
        source.size(depth.hits()).trackTotalHits(true);
        if (search.postFilter() != null) {
            source.postFilter(innerHits.drop(search.postFilter()));
        }
        if (search.sorts() != null) {
            search.sorts().forEach(source::sort);
        }
        if (search.rescores() != null) {
            search.rescores().forEach(source::addRescorer);
        }
        if (depth.inFullOrder()) {
            source.sort("_score", SortOrder.DESC).sort("_index", SortOrder.ASC).trackScores(true);
            source.sort(
                    SortBuilders.fieldSort(PackedField.ID).order(SortOrder.ASC).unmappedType("keyword"));
        }
        if (depth.first()) {
            source.profile(search.profile());
            if (!showsOtherDocuments()) {
                addAggregations(source);
            }
        }
        return source;
    }

    /** Asks for what matches and how it scores. */
    private SearchSourceBuilder matches(QueryBuilder query, boolean withInnerHits) {
        SearchSourceBuilder source = base();
        source.query(search.isSuggestOnly() ? new MatchNoneQueryBuilder() : query);
        Engine.addRanking(search, source, innerHits, withInnerHits);
        if (search.minScore() != null) {
            source.minScore(search.minScore());
        }
        search.indexBoosts().forEach(boost -> source.indexBoost(boost.getIndex(), boost.getBoost()));
        return source.trackScores(search.trackScores());
    }

    /** Adds aggregations, suggestions and the like, once. */
    private void addAggregations(SearchSourceBuilder source) {
        if (search.aggregations() != null) {
            search.aggregations().getAggregatorFactories().forEach(source::aggregation);
            search.aggregations().getPipelineAggregatorFactories().forEach(source::aggregation);
        }
        if (search.suggest() != null) {
            source.suggest(search.suggest());
        }
    }

    /** Returns whether aggregations or suggestions show documents, which a window leaves out of its response. */
    boolean showsOtherDocuments() {
        if (search.aggregations() != null && showHits(search.aggregations().getAggregatorFactories())) {
            return true;
        }
        return search.suggest() != null
                && search.suggest().getSuggestions().values().stream()
                        .anyMatch(each -> each instanceof CompletionSuggestionBuilder);
    }

    private static boolean showHits(Collection<AggregationBuilder> aggregations) {
        return aggregations.stream()
                .anyMatch(each -> each instanceof TopHitsAggregationBuilder || showHits(each.getSubAggregations()));
    }

    /** Asks for aggregations and suggestions that show documents, apart from the window. */
    SearchRequest otherDocuments() {
        SearchSourceBuilder source = matches(search.query(), true);
        source.size(0).trackTotalHits(false);
        addAggregations(source);
        show(source);
        return Engine.rankAs(request, copy(source));
    }

    /** Asks for documents as they are shown; the whole query decides on them once more. */
    SearchRequest page(Collection<Name> names) {
        SearchSourceBuilder source = base();
        BoolQueryBuilder filter = QueryBuilders.boolQuery();
        if (search.postFilter() != null) {
            filter.filter(search.postFilter());
        }
        if (Engine.ranksAsAWhole(search)) { // no clause can ask it of one document alone
            source.query(search.query()).postFilter(filter.filter(nameFilter(names)));
            Engine.addRanking(search, source, innerHits, true);
        } else {
            BoolQueryBuilder query = QueryBuilders.boolQuery().filter(nameFilter(names));
            source.query(search.query() == null ? query : query.must(search.query()));
            if (filter.hasClauses()) {
                source.postFilter(filter);
            }
        }
        // Elasticsearch keeps the queries inside a retriever, which highlights need, only where it counts what matches.
        source.size(names.size()).trackTotalHits(Engine.isRetrieved(search));
        if (isRescored() && search.rescores().toString().contains("\"_name\"")) {
            search.rescores().forEach(source::addRescorer);
        }
        show(source);
        return Engine.pastPipelines(copy(source));
    }

    /** Asks for the display of each hit. */
    private void show(SearchSourceBuilder source) {
        source.fetchSource(search.fetchSource())
                .highlighter(search.highlighter())
                .explain(search.explain());
        source.version(search.version()).seqNoAndPrimaryTerm(search.seqNoAndPrimaryTerm());
        if (search.storedFields() != null) {
            source.storedFields(search.storedFields());
        }
        if (search.docValueFields() != null) {
            search.docValueFields().forEach(field -> source.docValueField(field.field, field.format));
        }
        Engine.showFields(search, source);
        if (search.scriptFields() != null) {
            search.scriptFields()
                    .forEach(field -> source.scriptField(field.fieldName(), field.script(), field.ignoreFailure()));
        }
    }

    /** Asks for a slice of records next to indexes, in the order of their keys. */
    static SearchRequest ledger(LedgerCache.Slice slice) {
        SearchSourceBuilder source = new SearchSourceBuilder()
                .query(QueryBuilders.termQuery("ledger", slice.ledger()))
                .size(slice.size())
                .sort("key")
                .trackTotalHits(false);
        if (slice.after() != null) {
            source.searchAfter(slice.after());
        }
        SearchRequest request = new SearchRequest(slice.indexes().toArray(String[]::new), source);
        return Engine.pastPipelines(request).indicesOptions(IndicesOptions.lenientExpandOpen());
    }

    /** Asks for the packed values of documents in the indexes that hold the signatures of theirs. */
    static SearchRequest signatures(Collection<String> indexes, List<Name> names) {
        SearchSourceBuilder source = new SearchSourceBuilder()
                .query(ids(names.stream().map(Name::key).toList()))
                .size(names.size())
                .trackTotalHits(false)
                .fetchSource(false)
                .storedField(
                        NO_FIELDS) // packed values name their documents, and ids would be loaded from stored fields
                .docValueField(PackedField.NAME);
        SearchRequest request = new SearchRequest(indexes.toArray(String[]::new), source);
        return Engine.pastPipelines(request).allowPartialSearchResults(false);
    }

    private QueryBuilder nameFilter(Collection<Name> names) {
        Map<String, List<String>> byIndex = new LinkedHashMap<>();
        names.forEach(name -> byIndex.computeIfAbsent(name.index(), index -> new ArrayList<>())
                .add(name.id()));
        if (byIndex.size() == 1 && request.indices().length == 1 && byIndex.containsKey(request.indices()[0])) {
            return ids(byIndex.get(request.indices()[0]));
        }
        BoolQueryBuilder any = QueryBuilders.boolQuery();
        byIndex.forEach((index, ids) -> any.should(QueryBuilders.boolQuery()
                .filter(QueryBuilders.termQuery("_index", index))
                .filter(ids(ids))));
        return any;
    }

    private static IdsQueryBuilder ids(List<String> ids) {
        return QueryBuilders.idsQuery().addIds(ids.toArray(String[]::new));
    }

    /** Begins a request with the definitions that queries and fields may use. */
    private SearchSourceBuilder base() {
        SearchSourceBuilder source = Engine.begin(search);
        if (search.stats() != null) {
            source.stats(search.stats());
        }
        if (search.timeout() != null) {
            source.timeout(search.timeout());
        }
        if (search.pointInTimeBuilder() != null) {
            source.pointInTimeBuilder(search.pointInTimeBuilder());
        }
        return source.ext(extensions(null));
    }

    private List<SearchExtBuilder> extensions(SearchExtBuilder marker) {
        List<SearchExtBuilder> all = new ArrayList<>(search.ext());
        all.removeIf(each -> each instanceof DedupeExt);
        if (marker != null) {
            all.add(marker);
        }
        return all;
    }

    /** Copies the request; a part of the index that is missing is an error, unless a time limit allows it. */
    private SearchRequest copy(SearchSourceBuilder source) {
        SearchRequest copy = new SearchRequest(request).source(source);
        copy.allowPartialSearchResults(search.timeout() != null);
        if (request.preference() == null && search.pointInTimeBuilder() == null) {
            copy.preference("ibidem-"
                    + Integer.toHexString(Objects.hash(search.query(), search.sorts(), Engine.nearest(search))));
        }
        return copy;
    }
}
