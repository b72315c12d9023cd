package ibidem.opensearch;

import ibidem.core.InnerHitParts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
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
import org.opensearch.index.query.InnerHitContextBuilder;
import org.opensearch.index.query.QueryBuilder;

/**
 * Leaves inner hits out of queries.
 *
 * @param parsers the engine's parsers of queries
 */
record InnerHits(NamedXContentRegistry parsers) {
    /** Returns whether a query asks for some; null asks for none. */
    static boolean areIn(QueryBuilder query) {
        Map<String, InnerHitContextBuilder> inner = new HashMap<>();
        if (query != null) {
            InnerHitContextBuilder.extractInnerHits(query, inner);
        }
        return !inner.isEmpty();
    }

    /** Returns a query without inner hits. */
    QueryBuilder drop(QueryBuilder query) {
        if (!areIn(query)) {
            return query;
        }
        String json = Strings.toString(MediaTypeRegistry.JSON, query);
        Object kept = InnerHitParts.drop(XContentHelper.convertToMap(JsonXContent.jsonXContent, json, true));
        try (XContentBuilder builder = JsonXContent.contentBuilder().value(kept);
                XContentParser parser = JsonXContent.jsonXContent.createParser(
                        parsers, LoggingDeprecationHandler.INSTANCE, builder.toString())) {
            return AbstractQueryBuilder.parseInnerQueryBuilder(parser);
        } catch (IOException unread) {
            throw new UncheckedIOException(unread);
        }
    }
}
