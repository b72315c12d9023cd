package ibidem.elasticsearch;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.aggregations.AbstractAggregationBuilder;
import org.elasticsearch.search.aggregations.AggregationBuilder;
import org.elasticsearch.search.aggregations.Aggregator;
import org.elasticsearch.search.aggregations.AggregatorFactories;
import org.elasticsearch.search.aggregations.AggregatorFactory;
import org.elasticsearch.search.aggregations.CardinalityUpperBound;
import org.elasticsearch.search.aggregations.support.AggregationContext;
import org.elasticsearch.search.sort.SortBuilder;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/** Asks each shard for the groups of all matches: an aggregation is the only extension point that sees them all. */
final class GroupsBuilder extends AbstractAggregationBuilder<GroupsBuilder> {
    static final String NAME = "ibidem_groups";

    private final List<SortBuilder<?>> sorts;

    GroupsBuilder(List<SortBuilder<?>> sorts) {
        super(NAME);
        this.sorts = sorts;
    }

    GroupsBuilder(StreamInput in) throws IOException {
        super(in);
        sorts = in.readCollectionAsList(each -> (SortBuilder<?>) each.readNamedWriteable(SortBuilder.class));
    }

    static GroupsBuilder parse(XContentParser parser, String name) {
        throw new IllegalArgumentException("aggregation " + NAME + " is the plugin's own; use ext." + DedupeExt.NAME);
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeNamedWriteableCollection(sorts);
    }

    @Override
    protected AggregatorFactory doBuild(
            AggregationContext shard, AggregatorFactory above, AggregatorFactories.Builder below) throws IOException {
        var sort = shard.buildSort(sorts);
        return new AggregatorFactory(name, shard, above, below, metadata) {
            @Override
            protected Aggregator createInternal(Aggregator parent, CardinalityUpperBound many, Map<String, Object> data)
                    throws IOException {
                return new GroupsAggregator(sort.orElse(null), context, parent, data);
            }
        };
    }

    @Override
    protected XContentBuilder internalXContent(XContentBuilder builder, Params params) throws IOException {
        return builder.startObject().endObject();
    }

    @Override
    protected AggregationBuilder shallowCopy(AggregatorFactories.Builder below, Map<String, Object> data) {
        return new GroupsBuilder(sorts);
    }

    @Override
    public BucketCardinality bucketCardinality() {
        return BucketCardinality.NONE;
    }

    @Override
    public String getType() {
        return NAME;
    }

    @Override
    public TransportVersion getMinimalSupportedVersion() {
        return TransportVersion.zero();
    }
}
