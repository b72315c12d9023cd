package ibidem.opensearch;

import ibidem.core.ShardPage;
import ibidem.lucene.RankedPage;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Supplier;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.index.query.QueryRewriteContext;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.search.rescore.RescoreContext;

/** Asks the only shard of a search for a page; a rescorer is a shard's only extension point with all its best hits. */
final class PageRescorer extends Engine.Rescorer<PageRescorer> {
    static final String NAME = "ibidem_page";

    private final Supplier<Nodes> nodes;
    private final ShardPage.Spec spec;

    /**
     * @param nodes services of the node
     * @param spec which page
     */
    PageRescorer(Supplier<Nodes> nodes, ShardPage.Spec spec) {
        this.nodes = nodes;
        this.spec = spec;
        windowSize(1); // the search asks for as many hits as are looked at
    }

    PageRescorer(Supplier<Nodes> nodes, StreamInput in) throws IOException {
        super(in);
        this.nodes = nodes;
        spec = new ShardPage.Spec(Engine.readStrings(in), in.readVInt(), in.readVInt(), in.readVInt(), in.readString());
    }

    static PageRescorer parse(XContentParser parser) {
        throw new IllegalArgumentException("rescore." + NAME + " is the plugin's own; use ext." + DedupeExt.NAME);
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        Engine.writeStrings(out, spec.values());
        out.writeVInt(spec.from());
        out.writeVInt(spec.size());
        out.writeVInt(spec.deepest());
        out.writeString(spec.by());
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.field(NAME, spec.values());
    }

    @Override
    protected RescoreContext innerBuildContext(int windowSize, QueryShardContext context) {
        Nodes own = nodes.get();
        String index = Engine.indexName(context);
        return new PageContext(windowSize, new RankedPage(spec, index, new Ids(), own.confirmed(), own.memory()));
    }

    @Override
    public PageRescorer rewrite(QueryRewriteContext context) {
        return this;
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), spec);
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && spec.equals(((PageRescorer) other).spec);
    }
}
