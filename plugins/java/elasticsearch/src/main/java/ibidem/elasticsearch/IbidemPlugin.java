package ibidem.elasticsearch;

import ibidem.core.Ledgers;
import java.util.Collection;
import java.util.List;
import org.elasticsearch.index.IndexModule;

/** Groups the duplicates among a search's hits on the node that coordinates it. */
public final class IbidemPlugin extends GroupingPlugin {
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
                services.xContentRegistry(),
                Ledgers.of()));
        return List.of();
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
}
