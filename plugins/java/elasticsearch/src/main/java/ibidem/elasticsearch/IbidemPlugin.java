package ibidem.elasticsearch;

import ibidem.core.Ledgers;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.util.SetOnce;
import org.elasticsearch.action.support.ActionFilter;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.indices.breaker.BreakerSettings;
import org.elasticsearch.monitor.jvm.JvmInfo;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.CircuitBreakerPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.SearchPlugin;
import org.elasticsearch.search.fetch.FetchSubPhase;

/** Groups the duplicates among a search's hits on the node that coordinates it. */
public final class IbidemPlugin extends Plugin implements ActionPlugin, SearchPlugin, CircuitBreakerPlugin {
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
    public Collection<?> createComponents(PluginServices services) {
        Indexes indexes = new Indexes(
                services.clusterService(), services.indexNameExpressionResolver(), services.projectResolver());
        nodes.set(new Nodes(
                services.client(),
                services.clusterService(),
                services.threadPool(),
                indexes,
                breaker.get(),
                services.xContentRegistry()));
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
    public Collection<ActionFilter> getActionFilters() {
        return List.of(new DedupeFilter(nodes::get, ledgers));
    }

    @Override
    public List<SearchExtSpec<?>> getSearchExts() {
        return List.of(
                new SearchExtSpec<>(DedupeExt.NAME, DedupeExt::new, DedupeExt::parse),
                new SearchExtSpec<>(WindowExt.NAME, WindowExt::new, WindowExt::parse));
    }

    @Override
    public List<AggregationSpec> getAggregations() {
        return List.of(new AggregationSpec(GroupsBuilder.NAME, GroupsBuilder::new, GroupsBuilder::parse)
                .addResultReader(InternalGroups::new));
    }

    @Override
    public void onIndexModule(IndexModule index) {
        index.addSearchOperationListener(new PageContexts());
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(new PackedFetch());
    }
}
