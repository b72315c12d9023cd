package ibidem.elasticsearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.xcontent.LoggingDeprecationHandler;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.retriever.RetrieverBuilder;
import org.elasticsearch.search.retriever.RetrieverParserContext;
import org.elasticsearch.usage.SearchUsage;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.json.JsonXContent;

/** Parts of a search as JSON: the only form in which those of other modules can be read and changed. */
record Json(NamedXContentRegistry parsers) {
    /** Reads a part of a search. */
    interface Parser<T> {
        T parse(XContentParser parser) throws IOException;
    }

    String text(ToXContent part) {
        return Strings.toString(part);
    }

    Map<String, Object> map(ToXContent part) {
        return map(text(part));
    }

    Map<String, Object> map(String part) {
        return XContentHelper.convertToMap(JsonXContent.jsonXContent, part, true);
    }

    <T> T read(Object part, Parser<T> as) {
        XContentParserConfiguration configuration = XContentParserConfiguration.EMPTY
                .withRegistry(parsers)
                .withDeprecationHandler(LoggingDeprecationHandler.INSTANCE);
        try (XContentBuilder builder = JsonXContent.contentBuilder().value(part);
                XContentParser parser =
                        JsonXContent.jsonXContent.createParser(configuration, Strings.toString(builder))) {
            return as.parse(parser);
        } catch (IOException unread) {
            throw new UncheckedIOException(unread);
        }
    }

    QueryBuilder query(Object part) {
        return read(part, AbstractQueryBuilder::parseTopLevelQuery);
    }

    /** Reads a retriever of a kind that the nodes have read before. */
    RetrieverBuilder retriever(Object part) {
        RetrieverParserContext context = new RetrieverParserContext(new SearchUsage(), feature -> true);
        return read(part, parser -> RetrieverBuilder.parseTopLevelRetrieverBuilder(parser, context));
    }
}
