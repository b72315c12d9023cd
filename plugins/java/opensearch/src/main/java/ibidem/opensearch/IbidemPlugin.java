package ibidem.opensearch;

import ibidem.core.Ledgers;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.lucene.util.SetOnce;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.env.NodeEnvironment;
import org.opensearch.index.IndexModule;
import org.opensearch.indices.breaker.BreakerSettings;
import org.opensearch.monitor.jvm.JvmInfo;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.CircuitBreakerPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.SearchPipelinePlugin;
import org.opensearch.plugins.SearchPlugin;
import org.opensearch.repositories.RepositoriesService;
import org.opensearch.script.ScriptService;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.pipeline.Processor;
import org.opensearch.search.pipeline.SearchRequestProcessor;
import org.opensearch.search.pipeline.SearchResponseProcessor;
import org.opensearch.search.query.QueryCollectorContextSpecFactory;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.client.Client;
import org.opensearch.watcher.ResourceWatcherService;

/** Groups the duplicates among a search's hits on the node that coordinates it. */
public final class IbidemPlugin extends Plugin
        implements ActionPlugin, SearchPlugin, SearchPipelinePlugin, CircuitBreakerPlugin {
    private static final int SHARE_OF_HEAP = 5;

    private final SetOnce<Nodes> nodes = new SetOnce<>();
    private final SetOnce<CircuitBreaker> breaker = new SetOnce<>();
    private final Ledgers ledgers = Ledgers.of();

    /** Returns the plugin's version. */
    static String version() {
        return Objects.requireNonNullElse(IbidemPlugin.class.getPackage().getImplementationVersion(), "unknown");
    }

    @Override
    public Settings additionalSettings() {
        return Settings.builder().put("node.attr." + Nodes.ATTRIBUTE, version()).build();
    }

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
        nodes.set(new Nodes(client, clusterService, threadPool, indexes, breaker.get(), xContentRegistry));
        return List.of();
    }

    @Override
    public BreakerSettings getCircuitBreaker(Settings settings) {
        long limit = JvmInfo.jvmInfo().getMem().getHeapMax().getBytes() / SHARE_OF_HEAP;
        return BreakerSettings.updateFromSettings(new BreakerSettings("ibidem", limit, 1.0), settings);
    }

    @Override
    public void setCircuitBreaker(CircuitBreaker circuitBreaker) {
        breaker.set(circuitBreaker);
    }

    @Override
    public List<ActionFilter> getActionFilters() {
        return List.of(new DedupeFilter(nodes::get, ledgers));
    }

    @Override
    public List<SearchExtSpec<?>> getSearchExts() {
        return List.of(
                new SearchExtSpec<>(DedupeExt.NAME, DedupeExt::new, DedupeExt::parse),
                new SearchExtSpec<>(WindowExt.NAME, WindowExt::new, WindowExt::parse));
    }

    @Override
    public void onIndexModule(IndexModule index) {
        index.addSearchOperationListener(new GroupsCollector.Found());
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(new PackedFetch());
    }

    @Override
    public List<QueryCollectorContextSpecFactory> getCollectorContextSpecFactories() {
        return List.of(GroupsCollector::of);
    }

    @Override
    public Map<String, Processor.Factory<SearchRequestProcessor>> getRequestProcessors(Parameters parameters) {
        return Map.of(
                DedupeExt.NAME,
                (factories, tag, description, ignoreFailure, config, context) -> new Processors.WindowProcessor(
                        new Processors.Header(tag, description, ignoreFailure), config, nodes::get, ledgers));
    }

    @Override
    public Map<String, Processor.Factory<SearchResponseProcessor>> getResponseProcessors(Parameters parameters) {
        return Map.of(
                DedupeExt.NAME,
                (factories, tag, description, ignoreFailure, config, context) ->
                        new Processors.GroupProcessor(new Processors.Header(tag, description, ignoreFailure)));
    }
}
