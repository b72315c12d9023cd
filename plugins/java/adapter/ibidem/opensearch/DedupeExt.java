package ibidem.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.search.SearchExtBuilder;

/** {@code ext.ibidem}: options in a request, the account in a response. */
final class DedupeExt extends SearchExtBuilder {
    static final String NAME = "ibidem";

    private final Map<String, Object> values;

    DedupeExt(Map<String, Object> values) {
        this.values = values;
    }

    DedupeExt(StreamInput in) throws IOException {
        this(Engine.readMap(in));
    }

    static DedupeExt parse(XContentParser parser) throws IOException {
        return new DedupeExt(parser.map());
    }

    /** Returns the options of a request; null without options. */
    static Map<String, Object> of(SearchRequest request) {
        if (request.source() != null) {
            for (SearchExtBuilder each : request.source().ext()) {
                if (each instanceof DedupeExt ext) {
                    return ext.values;
                }
            }
        }
        return null;
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        Engine.writeMap(out, values);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        return builder.field(NAME, values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DedupeExt ext && values.equals(ext.values);
    }
}
