package ibidem.elasticsearch;

import ibidem.core.FoundGroups;
import ibidem.core.InnerHitParts;
import ibidem.core.RankingDepth;
import ibidem.core.Refusal;
import ibidem.core.Request;
import ibidem.lucene.GroupSpec;
import ibidem.lucene.ShardGroups;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldDocs;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.fetch.FetchSubPhaseProcessor;
import org.elasticsearch.search.fetch.StoredFieldsSpec;
import org.elasticsearch.search.sort.SortBuilder;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.tasks.Task;

/** What Elasticsearch does in its own way; the sources that both engines share ask for it here. */
final class Engine {
    private static final String IDENTITY = "_xpack_security_authentication";

    private Engine() {}

    /** Reads fields of a shard's hits, none of them stored ones. */
    interface FieldReader extends FetchSubPhaseProcessor {
        @Override
        default StoredFieldsSpec storedFieldsSpec() {
            return StoredFieldsSpec.NO_REQUIREMENTS;
        }
    }

    static Map<String, Object> readMap(StreamInput in) throws IOException {
        return in.readGenericMap();
    }

    static void writeMap(StreamOutput out, Map<String, Object> values) throws IOException {
        out.writeGenericMap(values);
    }

    /** Returns a key that identifies the caller. */
    static String caller(ThreadContext context) {
        return Objects.toString(context.getHeader(IDENTITY), "");
    }

    /** Does nothing: there are no pipelines of searches here. */
    static ThreadContext.StoredContext withTask(ThreadContext context, Task task) {
        return null;
    }

    /** Returns that none is: there are no pipelines of searches here. */
    static boolean isLeftToPipeline(SearchRequest search, Nodes nodes) {
        return false;
    }

    /** Refuses parts, known to this engine alone, that cannot be combined with groups. */
    static void refuse(SearchRequest request) {
        SearchSourceBuilder source = request.source();
        Refusal.SLICE.refuseIf(request.searchSlice() != null);
        Refusal.SUB_SEARCHES.refuseIf(
                source.rankBuilder() != null || source.subSearches().size() > 1);
    }

    /** Begins a request with the fields that the search defines. */
    static SearchSourceBuilder begin(SearchSourceBuilder search) {
        return new SearchSourceBuilder().runtimeMappings(search.runtimeMappings());
    }

    /** Puts the retriever of a search into its copy, deep enough, and returns the most hits that it ranks. */
    static int deepenRetriever(SearchSourceBuilder search, SearchSourceBuilder copy, RankingDepth depth, Json json) {
        return isRetrieved(search)
                ? new NearestDepth(depth, json).deepenRetriever(search.retriever(), copy)
                : Request.DEEPEST;
    }

    /** Makes the searches for nearest neighbours deep enough. */
    static void deepenNearest(SearchSourceBuilder source, RankingDepth depth, Json json) {
        new NearestDepth(depth, json).deepenNearest(source);
    }

    /** Adds what ranks beside the query: searches for nearest neighbours, and a retriever. */
    static void addRanking(
            SearchSourceBuilder search, SearchSourceBuilder source, InnerHits innerHits, boolean withInnerHits) {
        source.knnSearch(
                withInnerHits
                        ? search.knnSearch()
                        : search.knnSearch().stream()
                                .map(Engine::withoutInnerHits)
                                .toList());
        if (isRetrieved(search)) { // copied, since the search that it goes into may change it
            Json json = new Json(innerHits.parsers());
            Map<String, Object> parts = json.map(search.retriever());
            source.retriever(json.retriever(withInnerHits ? parts : InnerHitParts.drop(parts)));
        }
    }

    private static KnnSearchBuilder withoutInnerHits(KnnSearchBuilder search) {
        if (search.innerHit() == null) {
            return search;
        }
        return new KnnSearchBuilder(
                        search.getField(),
                        search.getQueryVector(),
                        search.getQueryVectorBuilder(),
                        search.k(),
                        search.getNumCands(),
                        search.getVisitPercentage(),
                        search.getRescoreVectorBuilder(),
                        search.getSimilarity())
                .addFilterQueries(search.getFilterQueries())
                .queryName(search.queryName())
                .boost(search.boost());
    }

    /** Returns whether a retriever ranks, which puts its hits into an order of its own. */
    static boolean isRetrieved(SearchSourceBuilder search) {
        return search.retriever() != null;
    }

    /** Returns whether a document matches by its rank among all. */
    static boolean ranksAsAWhole(SearchSourceBuilder search) {
        return isRetrieved(search) || !search.knnSearch().isEmpty();
    }

    /** Returns what ranks beside the query. */
    static List<Object> nearest(SearchSourceBuilder search) {
        return Arrays.asList(search.knnSearch(), search.retriever());
    }

    /** Returns the fields of the searches for nearest neighbours; empty without any. */
    static String nearestFields(SearchSourceBuilder search) {
        return search.knnSearch().stream().map(KnnSearchBuilder::getField).collect(Collectors.joining(", "));
    }

    /** Asks for fields. */
    static void showFields(SearchSourceBuilder search, SearchSourceBuilder source) {
        if (search.fetchFields() != null) {
            search.fetchFields().forEach(source::fetchField);
        }
    }

    /** Returns that nothing keeps shards from grouping all matches. */
    static String lackOfPass(DiscoveryNodes nodes) {
        return "";
    }

    /** Returns how many groups of all matches a page can reach: as many as there are. */
    static int mostGroups(int shards, int deepest) {
        return Integer.MAX_VALUE;
    }

    /** Asks for the groups of all matches. */
    static void addPass(SearchSourceBuilder source, GroupSpec spec, List<SortBuilder<?>> sorts) {
        source.aggregation(new GroupsBuilder(sorts));
    }

    /** Returns the groups that shards found, those of a page with their hits. */
    static FoundGroups<SearchHit> found(SearchResponse response, GroupSpec spec, int from, int size) {
        List<InternalGroups.Shard> shards = response.getAggregations() == null // without an index
                ? List.of()
                : response.getAggregations()
                        .<InternalGroups>get(GroupsBuilder.NAME)
                        .shards();
        Map<ScoreDoc, ShardGroups.Ranked<SearchHit>> hits = new HashMap<>();
        List<TopDocs> ranked = new ArrayList<>();
        for (InternalGroups.Shard shard : shards) {
            ShardGroups groups = shard.groups();
            for (int at = 0; at < groups.documents().length; at++) {
                SearchHit hit = shard.hits().getAt(at);
                groups.documents()[at].shardIndex = ranked.size();
                hits.put(
                        groups.documents()[at],
                        new ShardGroups.Ranked<>(ranked.size(), groups.names()[at], groups.counts()[at], hit));
            }
            ranked.add(shard.ranked());
        }
        SortField[] sort = shards.isEmpty() ? null : shards.get(0).hits().getSortFields();
        TopDocs merged = sort == null
                ? TopDocs.merge(hits.size(), ranked.toArray(TopDocs[]::new))
                : TopDocs.merge(new Sort(sort), hits.size(), ranked.toArray(TopFieldDocs[]::new));
        return ShardGroups.page(
                shards.stream().map(InternalGroups.Shard::groups).toList(),
                Arrays.stream(merged.scoreDocs).map(hits::get).toList(),
                spec,
                from,
                size);
    }

    /** Returns the search as it is: there are no pipelines of searches here. */
    static SearchRequest rankAs(SearchRequest request, SearchRequest part) {
        return part;
    }

    /** Returns the search as it is: there are no pipelines of searches here. */
    static SearchRequest pastPipelines(SearchRequest request) {
        return request;
    }

    /** Keeps a response until it is released. */
    static void keep(SearchResponse response) {
        response.mustIncRef();
    }

    static void release(SearchResponse response) {
        response.decRef();
    }

    static void release(SearchHits hits) {
        hits.decRef();
    }

    /** Returns the work on a response that is released after it; its failure goes to a listener. */
    static Runnable releaseAfter(SearchResponse response, ActionListener<Void> listener, Runnable work) {
        return ActionRunnable.wrapReleasing(listener, response::decRef, unused -> work.run());
    }

    static void setField(SearchHit hit, DocumentField field) {
        hit.setDocumentField(field);
    }

    static Map<String, DocumentField> metadata(SearchHit hit) {
        return hit.getMetadataFields();
    }

    static SearchHit hit(int docId, String id, Map<String, DocumentField> fields, Map<String, DocumentField> metadata) {
        SearchHit hit = new SearchHit(docId, id);
        hit.addDocumentFields(fields, metadata);
        return hit;
    }

    /** Copies the parts of a hit that are released with it to another hit. */
    static void copyOwned(SearchHit document, SearchHit hit) {
        if (document.hasSource()) {
            hit.sourceRef(new BytesArray(document.getSourceRef().toBytesRef(), true));
        }
        hit.matchedQueries(document.getMatchedQueriesAndScores());
        if (document.getInnerHits() != null) {
            document.getInnerHits().values().forEach(SearchHits::mustIncRef);
            hit.setInnerHits(document.getInnerHits());
        }
    }
}
