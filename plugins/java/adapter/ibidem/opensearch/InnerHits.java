package ibidem.opensearch;

import ibidem.core.InnerHitParts;
import java.util.HashMap;
import java.util.Map;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.index.query.InnerHitContextBuilder;
import org.opensearch.index.query.QueryBuilder;

/** Leaves inner hits out of queries. */
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
        Json json = new Json(parsers);
        return json.query(InnerHitParts.drop(json.map(json.text(query))));
    }
}
