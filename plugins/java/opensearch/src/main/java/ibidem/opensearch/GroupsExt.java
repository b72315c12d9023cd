package ibidem.opensearch;

import ibidem.lucene.GroupSpec;
import ibidem.lucene.ShardGroups;
import java.io.IOException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.search.SearchExtBuilder;

/** Asks the only shard of a search for the groups of all matches; on the shard it carries those that were found. */
final class GroupsExt extends SearchExtBuilder {
    static final String NAME = "ibidem_groups";

    private final GroupSpec spec;
    private final ShardGroups found;
    private final int carrier;

    /** @param spec what is asked */
    GroupsExt(GroupSpec spec) {
        this(spec, null, 0);
    }

    private GroupsExt(GroupSpec spec, ShardGroups found, int carrier) {
        this.spec = spec;
        this.found = found;
        this.carrier = carrier;
    }

    GroupsExt(StreamInput in) throws IOException {
        this(read(in));
    }

    static GroupSpec read(StreamInput in) throws IOException {
        return new GroupSpec(
                in.readString(), in.readVInt(), in.readVInt(), in.readVInt(), in.readBoolean(), in.readBoolean());
    }

    static void write(StreamOutput out, GroupSpec spec) throws IOException {
        out.writeString(spec.field());
        out.writeVInt(spec.from());
        out.writeVInt(spec.groups());
        out.writeVInt(spec.members());
        out.writeBoolean(spec.scored());
        out.writeBoolean(spec.keyed());
    }

    static GroupsExt parse(XContentParser parser) {
        throw new IllegalArgumentException("ext." + NAME + " is the plugin's own; use ext." + DedupeExt.NAME);
    }

    GroupSpec spec() {
        return spec;
    }

    /** Returns the groups; null until they are found. */
    ShardGroups found() {
        return found;
    }

    /** Returns the document whose hit is to carry them. */
    int carrier() {
        return carrier;
    }

    /** Returns the same with what was found, for the context of the shard alone. */
    GroupsExt with(ShardGroups groups, int document) {
        return new GroupsExt(spec, groups, document);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        write(out, spec);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        return builder.field(NAME, spec.field());
    }

    @Override
    public int hashCode() {
        return spec.hashCode();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof GroupsExt ext && spec.equals(ext.spec);
    }
}
