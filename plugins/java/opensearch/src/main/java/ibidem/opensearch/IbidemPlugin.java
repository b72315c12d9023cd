package ibidem.opensearch;

import ibidem.core.Ledgers;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.env.NodeEnvironment;
import org.opensearch.index.IndexModule;
import org.opensearch.plugins.SearchPipelinePlugin;
import org.opensearch.repositories.RepositoriesService;
import org.opensearch.script.ScriptService;
import org.opensearch.search.pipeline.Processor;
import org.opensearch.search.pipeline.SearchRequestProcessor;
import org.opensearch.search.pipeline.SearchResponseProcessor;
import org.opensearch.search.query.QueryCollectorContextSpecFactory;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.client.Client;
import org.opensearch.watcher.ResourceWatcherService;

/** Groups the duplicates among a search's hits on the node that coordinates it. */
public final class IbidemPlugin extends GroupingPlugin implements SearchPipelinePlugin {
    @Override
    public Collection<Object> createComponents(
            Client client,
            ClusterService clusterService,
            ThreadPool threadPool,
            ResourceWatcherService resourceWatcherService,
            ScriptService scriptService,
            NamedXContentRegistry xContentRegistry,
            Environment environment,
            NodeEnvironment nodeEnvironment,
            NamedWriteableRegistry namedWriteableRegistry,
            IndexNameExpressionResolver indexNameExpressionResolver,
            Supplier<RepositoriesService> repositoriesServiceSupplier) {
        Indexes indexes = new Indexes(clusterService, indexNameExpressionResolver);
        nodes.set(
                new Nodes(client, clusterService, threadPool, indexes, breaker.get(), xContentRegistry, Ledgers.of()));
        return List.of();
    }

    @Override
    public void onIndexModule(IndexModule index) {
        index.addSearchOperationListener(new GroupsCollector.Found());
    }

    @Override
    public List<QueryCollectorContextSpecFactory> getCollectorContextSpecFactories() {
        return List.of(GroupsCollector::of);
    }

    @Override
    public Map<String, Processor.Factory<SearchRequestProcessor>> getRequestProcessors(Parameters parameters) {
        return Map.of(
                DedupeExt.NAME,
                (factories, tag, description, ignoreFailure, config, context) ->
                        new Processors.WindowProcessor(tag, description, ignoreFailure, config, nodes::get));
    }

    @Override
    public Map<String, Processor.Factory<SearchResponseProcessor>> getResponseProcessors(Parameters parameters) {
        return Map.of(
                DedupeExt.NAME,
                (factories, tag, description, ignoreFailure, config, context) ->
                        new Processors.GroupProcessor(tag, description, ignoreFailure));
    }
}
