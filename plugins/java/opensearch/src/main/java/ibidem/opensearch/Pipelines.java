package ibidem.opensearch;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.index.IndexSettings;
import org.opensearch.search.pipeline.PipelineConfiguration;
import org.opensearch.search.pipeline.SearchPipelineMetadata;

/** Returns whether a search goes through a pipeline that groups: {@code ext.ibidem} is then that pipeline's to read. */
final class Pipelines {
    private static final String PROCESSORS = "request_processors";

    private Pipelines() {}

    static boolean group(SearchRequest request, Nodes nodes) {
        if (request.source().searchPipelineSource() != null) {
            return groups(request.source().searchPipelineSource());
        }
        ClusterState state = nodes.cluster().state();
        SearchPipelineMetadata metadata = state.metadata().custom(SearchPipelineMetadata.TYPE);
        PipelineConfiguration pipeline =
                metadata == null ? null : metadata.getPipelines().get(name(request, nodes, state));
        return pipeline != null && groups(pipeline.getConfigAsMap());
    }

    private static boolean groups(Map<String, Object> pipeline) {
        return pipeline.get(PROCESSORS) instanceof List<?> processors
                && processors.stream()
                        .anyMatch(each -> each instanceof Map<?, ?> processor && processor.containsKey(DedupeExt.NAME));
    }

    /** Returns the name of the pipeline that a search goes through: its own, or the one that its indexes have in common. */
    private static String name(SearchRequest request, Nodes nodes, ClusterState state) {
        if (request.pipeline() != null) {
            return request.pipeline();
        }
        if (request.source().pipeline() != null) {
            return request.source().pipeline();
        }
        Set<String> names = new HashSet<>();
        for (String name : nodes.indexes(request)) {
            IndexMetadata index = state.metadata().index(name);
            if (index != null && IndexSettings.DEFAULT_SEARCH_PIPELINE.exists(index.getSettings())) {
                names.add(IndexSettings.DEFAULT_SEARCH_PIPELINE.get(index.getSettings()));
            }
        }
        return names.size() == 1 ? names.iterator().next() : "_none";
    }
}
