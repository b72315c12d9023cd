package ibidem.opensearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.opensearch.common.xcontent.LoggingDeprecationHandler;
import org.opensearch.common.xcontent.XContentHelper;
import org.opensearch.common.xcontent.json.JsonXContent;
import org.opensearch.core.common.Strings;
import org.opensearch.core.xcontent.MediaTypeRegistry;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.index.query.AbstractQueryBuilder;
import org.opensearch.index.query.QueryBuilder;

/** Queries as JSON: the only form in which those of other plugins can be read and changed. */
record Json(NamedXContentRegistry parsers) {
    String text(QueryBuilder query) {
        return Strings.toString(MediaTypeRegistry.JSON, query);
    }

    Map<String, Object> map(String query) {
        return XContentHelper.convertToMap(JsonXContent.jsonXContent, query, true);
    }

    QueryBuilder query(Object part) {
        try (XContentBuilder builder = JsonXContent.contentBuilder().value(part);
                XContentParser parser = JsonXContent.jsonXContent.createParser(
                        parsers, LoggingDeprecationHandler.INSTANCE, builder.toString())) {
            return AbstractQueryBuilder.parseInnerQueryBuilder(parser);
        } catch (IOException unread) {
            throw new UncheckedIOException(unread);
        }
    }
}
