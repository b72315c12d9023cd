package ibidem.elasticsearch;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.SearchExtBuilder;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/** {@code ext.ibidem}: options in a request, the account in a response. */
final class DedupeExt extends SearchExtBuilder {
    static final String NAME = "ibidem";

    private final Map<String, Object> values;

    DedupeExt(Map<String, Object> values) {
        this.values = values;
    }

    DedupeExt(StreamInput in) throws IOException {
        this(in.readGenericMap());
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
        out.writeGenericMap(values);
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
