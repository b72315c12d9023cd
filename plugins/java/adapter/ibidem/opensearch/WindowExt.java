package ibidem.opensearch;

import ibidem.lucene.GroupSpec;
import ibidem.lucene.ShardGroups;
import java.io.IOException;
import java.util.Objects;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.search.SearchExtBuilder;

/** Marks a search whose shards hand over packed values as they are stored: for a window, or for groups of all matches. */
final class WindowExt extends SearchExtBuilder {
    static final String NAME = "ibidem_window";

    private final GroupSpec spec;
    private final ShardGroups found;

    /**
     * @param spec how all matches are grouped; null for a window
     * @param found the groups, in the context of a shard that found some as its hits; else null
     */
    WindowExt(GroupSpec spec, ShardGroups found) {
        this.spec = spec;
        this.found = found;
    }

    WindowExt(StreamInput in) throws IOException {
        this(in.readBoolean() ? read(in) : null, null);
    }

    private static GroupSpec read(StreamInput in) throws IOException {
        return new GroupSpec(
                in.readString(), in.readVInt(), in.readVInt(), in.readVInt(), in.readBoolean(), in.readVInt());
    }

    static WindowExt parse(XContentParser parser) {
        throw new IllegalArgumentException("ext." + NAME + " is the plugin's own; use ext." + DedupeExt.NAME);
    }

    static boolean marks(SearchRequest request) {
        return request.source() != null && request.source().ext().stream().anyMatch(each -> each instanceof WindowExt);
    }

    GroupSpec spec() {
        return spec;
    }

    ShardGroups found() {
        return found;
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        out.writeBoolean(spec != null);
        if (spec != null) {
            out.writeString(spec.field());
            out.writeVInt(spec.from());
            out.writeVInt(spec.groups());
            out.writeVInt(spec.members());
            out.writeBoolean(spec.scored());
            out.writeVInt(spec.shards());
        }
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        return builder.field(NAME, true);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(spec);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof WindowExt ext && Objects.equals(spec, ext.spec);
    }
}
