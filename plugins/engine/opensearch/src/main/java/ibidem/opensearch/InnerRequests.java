package ibidem.opensearch;

import ibidem.core.Depth;
import ibidem.core.LedgerCache;
import ibidem.core.Name;
import ibidem.core.PackedField;
import ibidem.core.UsageException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchType;
import org.opensearch.action.support.IndicesOptions;
import org.opensearch.index.query.BoolQueryBuilder;
import org.opensearch.index.query.IdsQueryBuilder;
import org.opensearch.index.query.InnerHitContextBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryBuilders;
import org.opensearch.search.SearchExtBuilder;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.fetch.subphase.FieldAndFormat;
import org.opensearch.search.sort.SortBuilders;
import org.opensearch.search.sort.SortOrder;

/** The searches that one search is made of: its window, and the documents that are shown. */
final class InnerRequests {
    private static final String NO_PIPELINE = "_none";
    private static final String NO_FIELDS = "_none_";

    private final SearchRequest request;
    private final SearchSourceBuilder asked;
    private final boolean bytes;

    /**
     * @param request what was asked
     * @param bytes whether every node hands over packed values as bytes
     */
    InnerRequests(SearchRequest request, boolean bytes) {
        this.request = request;
        this.asked = request.source();
        this.bytes = bytes;
    }

    /** Returns whether ties are put in order by index and id: where the engine orders by score alone. */
    boolean byScoreAlone() {
        return asked.sorts() == null && asked.rescores() == null;
    }

    /** Asks for a window: the ranking, aggregations and the like, and of each hit only its packed value. */
    SearchRequest window(Depth depth) {
        SearchSourceBuilder made = ranked(depth);
        made.fetchSource(false);
        if (bytes) {
            made.storedField(NO_FIELDS).ext(with(new WindowExt(depth.ids())));
        } else {
            made.docValueField(PackedField.NAME);
            if (!depth.ids()) {
                made.storedField(NO_FIELDS);
            }
        }
        return ranking(made);
    }

    /** Asks the only shard for a page: the ranking, the options of the page, and the display of its hits. */
    SearchRequest pageOfShard(Depth depth, PageRescorer page) {
        SearchSourceBuilder made = ranked(depth).addRescorer(page);
        show(made);
        return ranking(made);
    }

    /** Returns whether a shard may make the page; if not, the coordinating node makes it. */
    boolean goesWithPageOfShard() {
        boolean inOneStep = request.searchType() == SearchType.QUERY_THEN_FETCH; // ranks and fetches on one context
        if (!bytes || !inOneStep || !byScoreAlone() || asked.profile() || Boolean.TRUE.equals(asked.explain())) {
            return false;
        }
        Map<String, InnerHitContextBuilder> inner = new HashMap<>();
        if (asked.query() != null) {
            InnerHitContextBuilder.extractInnerHits(asked.query(), inner);
        }
        return inner.isEmpty()
                && (asked.query() == null || !asked.query().getName().equals("hybrid"));
    }

    /** Asks for the best hits, and for aggregations and the like. */
    private SearchSourceBuilder ranked(Depth depth) {
        SearchSourceBuilder made = everywhere();
        made.query(asked.query()).size(depth.hits()).trackTotalHits(true).trackScores(asked.trackScores());
        if (asked.postFilter() != null) {
            made.postFilter(asked.postFilter());
        }
        if (asked.minScore() != null) {
            made.minScore(asked.minScore());
        }
        if (asked.sorts() != null) {
            asked.sorts().forEach(made::sort);
        }
        if (asked.rescores() != null) {
            asked.rescores().forEach(made::addRescorer);
        }
        if (depth.inFullOrder()) {
            made.sort("_score", SortOrder.DESC).sort("_index", SortOrder.ASC).trackScores(true);
            made.sort(
                    SortBuilders.fieldSort(PackedField.ID).order(SortOrder.ASC).unmappedType("keyword"));
        }
        asked.indexBoosts().forEach(boost -> made.indexBoost(boost.getIndex(), boost.getBoost()));
        if (depth.first()) {
            beside(made);
        }
        return made;
    }

    /** Lets a search that ranks go through the pipeline that was asked for. */
    private SearchRequest ranking(SearchSourceBuilder made) {
        if (asked.searchPipelineSource() != null) {
            made.searchPipelineSource(asked.searchPipelineSource());
        }
        SearchRequest window = copy(made);
        window.pipeline(request.pipeline() == null ? asked.pipeline() : request.pipeline());
        return window;
    }

    /** Adds aggregations, suggestions and the like, once. */
    private void beside(SearchSourceBuilder made) {
        if (asked.aggregations() != null) {
            asked.aggregations().getAggregatorFactories().forEach(made::aggregation);
            asked.aggregations().getPipelineAggregatorFactories().forEach(made::aggregation);
        }
        if (asked.suggest() != null) {
            made.suggest(asked.suggest());
        }
        made.profile(asked.profile());
    }

    /** Asks for documents as they are shown; the query is added without filtering, where the display needs it. */
    SearchRequest page(Collection<Name> names) {
        SearchSourceBuilder made = everywhere();
        BoolQueryBuilder query = QueryBuilders.boolQuery().filter(among(names));
        if (asked.query() != null && looksAtTheQuery()) {
            query.should(asked.query());
        }
        made.query(query).size(names.size()).trackTotalHits(false);
        if (asked.postFilter() != null) {
            made.postFilter(asked.postFilter());
        }
        show(made);
        SearchRequest page = copy(made);
        page.pipeline(NO_PIPELINE);
        return page;
    }

    /** Asks for the display of each hit. */
    private void show(SearchSourceBuilder made) {
        made.fetchSource(asked.fetchSource()).highlighter(asked.highlighter()).explain(asked.explain());
        made.version(asked.version()).seqNoAndPrimaryTerm(asked.seqNoAndPrimaryTerm());
        made.includeNamedQueriesScores(asked.includeNamedQueriesScore());
        if (asked.storedFields() != null) {
            made.storedFields(asked.storedFields());
        }
        if (asked.docValueFields() != null) {
            asked.docValueFields().forEach(field -> made.docValueField(field.field, field.format));
        }
        if (asked.fetchFields() != null) {
            for (FieldAndFormat field : asked.fetchFields()) {
                made.fetchField(field.field, field.format);
            }
        }
        if (asked.scriptFields() != null) {
            asked.scriptFields()
                    .forEach(field -> made.scriptField(field.fieldName(), field.script(), field.ignoreFailure()));
        }
    }

    /** Asks for a slice of records next to indexes, in the order of their keys. */
    static SearchRequest ledger(LedgerCache.Slice slice) {
        SearchSourceBuilder source =
                new SearchSourceBuilder().size(slice.size()).sort("key").trackTotalHits(false);
        if (slice.after() != null) {
            source.searchAfter(slice.after());
        }
        SearchRequest made = new SearchRequest(slice.ledgers().toArray(String[]::new), source);
        made.pipeline(NO_PIPELINE);
        return made.indicesOptions(IndicesOptions.lenientExpandOpen());
    }

    /** Asks for the long signatures of documents. */
    SearchRequest longSignatures(Collection<Name> names) {
        SearchSourceBuilder made = everywhere();
        made.query(QueryBuilders.boolQuery().filter(among(names)))
                .size(names.size())
                .trackTotalHits(false);
        made.fetchSource(false).docValueField(PackedField.LONG);
        SearchRequest values = copy(made);
        values.pipeline(NO_PIPELINE);
        return values;
    }

    /** Returns whether something that is shown of a hit comes from the query: marks, scores, names, inner hits. */
    private boolean looksAtTheQuery() {
        if (asked.highlighter() != null || Boolean.TRUE.equals(asked.explain()) || asked.scriptFields() != null) {
            return true;
        }
        String query = asked.query().toString();
        return query.contains("\"_name\"") || query.contains("\"inner_hits\"");
    }

    private QueryBuilder among(Collection<Name> names) {
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
    private SearchSourceBuilder everywhere() {
        SearchSourceBuilder made = new SearchSourceBuilder();
        if (asked.getDerivedFieldsObject() != null) {
            throw new UsageException(
                    "derived fields inside a request do not go with dedupe", "put them into the mapping");
        }
        if (asked.stats() != null) {
            made.stats(asked.stats());
        }
        if (asked.timeout() != null) {
            made.timeout(asked.timeout());
        }
        if (asked.pointInTimeBuilder() != null) {
            made.pointInTimeBuilder(asked.pointInTimeBuilder());
        }
        return made.ext(with(null));
    }

    private List<SearchExtBuilder> with(SearchExtBuilder own) {
        List<SearchExtBuilder> all = new ArrayList<>(asked.ext());
        all.removeIf(each -> each instanceof DedupeExt);
        if (own != null) {
            all.add(own);
        }
        return all;
    }

    /** Copies the request; a part of the index that is missing is an error, unless a time limit allows it. */
    private SearchRequest copy(SearchSourceBuilder source) {
        SearchRequest made = new SearchRequest(request).source(source);
        made.allowPartialSearchResults(asked.timeout() != null);
        if (request.preference() == null && asked.pointInTimeBuilder() == null) {
            made.preference("ibidem-" + Integer.toHexString(Objects.hash(asked.query(), asked.sorts())));
        }
        return made;
    }
}
