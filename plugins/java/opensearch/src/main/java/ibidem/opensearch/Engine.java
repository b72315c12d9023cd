package ibidem.opensearch;

import ibidem.core.FoundGroups;
import ibidem.core.PackedField;
import ibidem.core.RankingDepth;
import ibidem.core.Refusal;
import ibidem.core.Request;
import ibidem.lucene.GroupSpec;
import ibidem.lucene.ShardGroups;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opensearch.Version;
import org.opensearch.action.ActionRunnable;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.common.document.DocumentField;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;
import org.opensearch.search.sort.SortBuilder;
import org.opensearch.tasks.Task;

/** What OpenSearch does in its own way; the sources that both engines share ask for it here. */
final class Engine {
    static final String TASK = "ibidem_task"; // under this name a search pipeline finds the task that it runs under
    private static final String NO_PIPELINE = "_none";
    private static final Version COLLECTORS = Version.fromString("3.2.0");
    private static final String[] IDENTITIES = {
        "_opendistro_security_user", "_opendistro_security_user_info", "_opendistro_security_injected_user"
    };

    private Engine() {}

    /** Reads fields of a shard's hits. */
    interface FieldReader extends FetchSubPhaseProcessor {}

    static Map<String, Object> readMap(StreamInput in) throws IOException {
        return in.readMap();
    }

    static void writeMap(StreamOutput out, Map<String, Object> values) throws IOException {
        out.writeMap(values);
    }

    /** Returns a key that identifies the caller. */
    static String caller(ThreadContext context) {
        StringBuilder caller = new StringBuilder();
        for (String name : IDENTITIES) {
            caller.append(Objects.toString(context.getTransient(name), "")).append('\n');
        }
        return caller.toString();
    }

    /** Leaves a task where a search pipeline that runs under it finds it, until the context is closed. */
    static ThreadContext.StoredContext withTask(ThreadContext context, Task task) {
        ThreadContext.StoredContext before = context.newStoredContext(true, List.of(TASK));
        context.putTransient(TASK, task);
        return before;
    }

    /** Returns whether a search goes through a pipeline that groups, and reads {@code ext.ibidem} itself. */
    static boolean isLeftToPipeline(SearchRequest search, Nodes nodes) {
        return Pipelines.group(search, nodes);
    }

    /** Refuses parts, known to this engine alone, that cannot be combined with groups. */
    static void refuse(SearchRequest request) {
        SearchSourceBuilder source = request.source();
        Refusal.DERIVED.refuseIf(source.getDerivedFieldsObject() != null || source.getDerivedFields() != null);
    }

    /** Begins a request. */
    static SearchSourceBuilder begin(SearchSourceBuilder search) {
        return new SearchSourceBuilder();
    }

    /** Returns the most hits that a search ranks, where no retriever says how many. */
    static int deepenRetriever(SearchSourceBuilder search, SearchSourceBuilder copy, RankingDepth depth, Json json) {
        return Request.DEEPEST;
    }

    /** Does nothing: a search for nearest neighbours is a query here. */
    static void deepenNearest(SearchSourceBuilder source, RankingDepth depth, Json json) {}

    /** Adds nothing: a search for nearest neighbours is a query here. */
    static void addRanking(
            SearchSourceBuilder search, SearchSourceBuilder source, InnerHits innerHits, boolean withInnerHits) {}

    /** Returns that no retriever ranks: there are none here. */
    static boolean isRetrieved(SearchSourceBuilder search) {
        return false;
    }

    /** Returns what ranks beside the query: nothing here. */
    static List<Object> nearest(SearchSourceBuilder search) {
        return List.of();
    }

    /** Returns no field: a search for nearest neighbours is a query here. */
    static String nearestFields(SearchSourceBuilder search) {
        return "";
    }

    /** Returns whether a document matches by its rank among all. */
    static boolean ranksAsAWhole(SearchSourceBuilder search) {
        return search.query() != null && search.query().getName().equals("hybrid");
    }

    /** Asks for the scores of named queries, and for fields. */
    static void showFields(SearchSourceBuilder search, SearchSourceBuilder source) {
        source.includeNamedQueriesScores(search.includeNamedQueriesScore());
        if (search.fetchFields() != null) {
            search.fetchFields().forEach(field -> source.fetchField(field.field, field.format));
        }
    }

    /** Returns why shards cannot group all matches; empty if they can. */
    static String lackOfPass(DiscoveryNodes nodes) {
        return nodes.getMinNodeVersion().onOrAfter(COLLECTORS)
                ? ""
                : "OpenSearch before 3.2 does not let a plugin see all matches";
    }

    /** Returns how many groups of all matches a page can reach: the documents of a shard's groups are its hits. */
    static int mostGroups(int shards, int deepest) {
        return shards == 0 ? -1 : deepest / shards;
    }

    /** Asks for the groups of all matches. */
    static void addPass(SearchSourceBuilder source, GroupSpec spec, List<SortBuilder<?>> sorts) {
        source.trackTotalHits(true).size(Math.max(1, spec.shards() * spec.groups() * spec.members()));
        sorts.forEach(source::sort);
    }

    /** Returns the groups that shards found, those of a page with their hits. */
    static FoundGroups<SearchHit> found(SearchResponse response, GroupSpec spec, int from, int size) {
        List<ShardGroups> shards = new ArrayList<>();
        List<ShardGroups.Ranked<SearchHit>> ranked = new ArrayList<>();
        for (SearchHit hit : response.getHits()) {
            List<Object> carried = hit.field(PackedField.GROUPS).getValues();
            ranked.add(ShardGroups.read(hit.getShard(), carried, hit, shards));
        }
        return ShardGroups.page(shards, ranked, spec, from, size);
    }

    /** Sends a search through the pipeline of the request that it is a part or a copy of; copies lack it. */
    static SearchRequest rankAs(SearchRequest request, SearchRequest part) {
        SearchSourceBuilder search = request.source();
        if (search.searchPipelineSource() != null) {
            part.source().searchPipelineSource(search.searchPipelineSource());
        }
        return part.pipeline(request.pipeline() == null ? search.pipeline() : request.pipeline());
    }

    /** Sends a search through no pipeline. */
    static SearchRequest pastPipelines(SearchRequest request) {
        return request.pipeline(NO_PIPELINE);
    }

    /** Does nothing: responses are not released here. */
    static void keep(SearchResponse response) {}

    /** Does nothing: responses are not released here. */
    static void release(SearchResponse response) {}

    /** Does nothing: hits are not released here. */
    static void release(SearchHits hits) {}

    /** Returns the work on a response, whose failure goes to a listener. */
    static Runnable releaseAfter(SearchResponse response, ActionListener<Void> listener, Runnable work) {
        return ActionRunnable.wrap(listener, unused -> work.run());
    }

    static void setField(SearchHit hit, DocumentField field) {
        hit.setDocumentField(field.getName(), field);
    }

    static Map<String, DocumentField> metadata(SearchHit hit) {
        return hit.getMetaFields();
    }

    static SearchHit hit(int docId, String id, Map<String, DocumentField> fields, Map<String, DocumentField> metadata) {
        return new SearchHit(docId, id, fields, metadata);
    }

    /** Hands the parts of a hit that are released elsewhere to another hit. */
    static void copyOwned(SearchHit document, SearchHit hit) {
        hit.sourceRef(document.getSourceRef());
        hit.matchedQueriesWithScores(document.getMatchedQueriesAndScores());
        hit.setInnerHits(document.getInnerHits());
    }
}
