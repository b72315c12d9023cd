package ibidem.elasticsearch;

import ibidem.core.InnerHitParts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.xcontent.LoggingDeprecationHandler;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.InnerHitContextBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.vectors.KnnSearchBuilder;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.json.JsonXContent;

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
        Object kept = InnerHitParts.drop(
                XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(query), true));
        XContentParserConfiguration configuration = XContentParserConfiguration.EMPTY
                .withRegistry(parsers)
                .withDeprecationHandler(LoggingDeprecationHandler.INSTANCE);
        try (XContentBuilder builder = JsonXContent.contentBuilder().value(kept);
                XContentParser parser =
                        JsonXContent.jsonXContent.createParser(configuration, Strings.toString(builder))) {
            return AbstractQueryBuilder.parseTopLevelQuery(parser);
        } catch (IOException unread) {
            throw new UncheckedIOException(unread);
        }
    }

    /** Returns a search for nearest neighbours without inner hits. */
    static KnnSearchBuilder drop(KnnSearchBuilder search) {
        if (search.innerHit() == null) {
            return search;
        }
        return new KnnSearchBuilder(
                        search.getField(),
                        search.getQueryVector(),
                        search.getQueryVectorBuilder(),
                        search.k(),
                        search.getNumCands(),
                        search.getVisitPercentage(),
                        search.getRescoreVectorBuilder(),
                        search.getSimilarity())
                .addFilterQueries(search.getFilterQueries())
                .queryName(search.queryName())
                .boost(search.boost());
    }
}
