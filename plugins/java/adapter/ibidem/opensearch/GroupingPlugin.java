package ibidem.opensearch;

import java.util.List;
import java.util.Objects;
import org.apache.lucene.util.SetOnce;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.indices.breaker.BreakerSettings;
import org.opensearch.monitor.jvm.JvmInfo;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.CircuitBreakerPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.SearchPlugin;
import org.opensearch.search.fetch.FetchSubPhase;

/** What the plugins of both engines register. */
abstract class GroupingPlugin extends Plugin implements ActionPlugin, SearchPlugin, CircuitBreakerPlugin {
    private static final int SHARE_OF_HEAP = 5;

    final SetOnce<Nodes> nodes = new SetOnce<>();
    final SetOnce<CircuitBreaker> breaker = new SetOnce<>();

    /** Returns the plugin's version. */
    static String version() {
        return Objects.requireNonNullElse(GroupingPlugin.class.getPackage().getImplementationVersion(), "unknown");
    }

    @Override
    public Settings additionalSettings() {
        return Settings.builder().put("node.attr." + Nodes.ATTRIBUTE, version()).build();
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
        return List.of(new DedupeFilter(nodes::get));
    }

    @Override
    public List<SearchExtSpec<?>> getSearchExts() {
        return List.of(
                new SearchExtSpec<>(DedupeExt.NAME, DedupeExt::new, DedupeExt::parse),
                new SearchExtSpec<>(WindowExt.NAME, WindowExt::new, WindowExt::parse));
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(new PackedFetch());
    }
}
