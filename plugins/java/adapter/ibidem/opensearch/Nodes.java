package ibidem.opensearch;

import ibidem.core.Ledgers;
import ibidem.core.Request;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.index.IndexNotFoundException;
import org.opensearch.index.IndexSettings;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.client.Client;

/** Services of the node for the plugin. */
record Nodes(
        Client client,
        ClusterService cluster,
        ThreadPool threads,
        Indexes metadata,
        CircuitBreaker breaker,
        NamedXContentRegistry parsers,
        Ledgers ledgers) {
    static final String ATTRIBUTE = "ibidem"; // a node's attribute that says which plugin it has

    /** Returns a key that identifies the caller. */
    String caller() {
        return Engine.caller(threads.getThreadContext());
    }

    /** Returns whether every node has this version of the plugin; if not, shards return fields alone. */
    boolean allHaveThePlugin() {
        return cluster.state().nodes().getNodes().values().stream()
                .allMatch(node ->
                        GroupingPlugin.version().equals(node.getAttributes().get(ATTRIBUTE)));
    }

    /** Returns how many shards an index has. */
    int shards(String name) {
        IndexMetadata index = metadata.current().index(name);
        return index == null ? 0 : index.getNumberOfShards();
    }

    /** Returns the indexes of a search; empty if there are none, or if only its hits name them. */
    List<String> indexes(SearchRequest request) {
        if (request.source().pointInTimeBuilder() != null) {
            return List.of();
        }
        String[] names = request.indices();
        if (names.length == 1 && metadata.current().hasIndex(names[0])) {
            return List.of(names[0]); // the usual case, in less time
        }
        try {
            return List.of(metadata.named(request));
        } catch (IndexNotFoundException | IllegalArgumentException laterError) {
            return List.of();
        }
    }

    /** Returns the most hits that a window of these indexes may hold. */
    int deepest(List<String> indexes) {
        int deepest = Request.DEEPEST;
        for (String name : indexes) {
            IndexMetadata index = metadata.current().index(name);
            if (index != null) {
                deepest = Math.min(deepest, IndexSettings.MAX_RESULT_WINDOW_SETTING.get(index.getSettings()));
            }
        }
        return deepest;
    }

    /** Returns the existing indexes of records next to these names and indexes. */
    Set<String> ledgers(String[] names, Collection<String> indexes) {
        return find(names, indexes, "");
    }

    /** Returns the existing indexes of signatures beside indexes that hold none themselves. */
    Set<String> beside(String[] names, Collection<String> indexes) {
        Set<String> found = find(names, indexes, Ledgers.SIGNATURES);
        found.removeIf(name -> !holdsSignatures(name));
        // A mapping is parsed for it, so that indexes that have nothing beside them are not looked at.
        return found.isEmpty() || indexes.stream().allMatch(this::holdsSignatures) ? Set.of() : found;
    }

    private boolean holdsSignatures(String name) {
        IndexMetadata index = metadata.current().index(name);
        return index != null
                && index.mapping() != null
                && index.mapping().sourceAsMap().get("_meta") instanceof Map<?, ?> meta
                && meta.containsKey("ibidem");
    }

    private Set<String> find(String[] names, Collection<String> indexes, String suffix) {
        var current = metadata.current();
        return Ledgers.find(
                names,
                indexes,
                index -> current.hasIndex(index)
                        ? current.index(index).getAliases().keySet()
                        : Set.of(),
                suffix,
                current.getIndicesLookup()::containsKey);
    }
}
