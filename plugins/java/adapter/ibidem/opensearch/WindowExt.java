package ibidem.opensearch;

import java.io.IOException;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.search.SearchExtBuilder;

/** Marks a search for a window, so that each shard hands over packed values as they are stored. */
final class WindowExt extends SearchExtBuilder {
    static final String NAME = "ibidem_window";

    static WindowExt parse(XContentParser parser) {
        throw new IllegalArgumentException("ext." + NAME + " is the plugin's own; use ext." + DedupeExt.NAME);
    }

    static boolean marks(SearchRequest request) {
        return request.source() != null && request.source().ext().stream().anyMatch(each -> each instanceof WindowExt);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public void writeTo(StreamOutput out) {}

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        return builder.field(NAME, true);
    }

    @Override
    public int hashCode() {
        return NAME.hashCode();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof WindowExt;
    }
}
