package ibidem.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The {@code inner_hits} of a query, as JSON: they are shown, so only the documents of a page are asked for them. */
public final class InnerHitParts {
    private static final String INNER_HITS = "inner_hits";

    private InnerHitParts() {}

    /** Returns a query without them; a field of that name stays. */
    public static Object drop(Object part) {
        if (part instanceof List<?> parts) {
            return parts.stream().map(InnerHitParts::drop).toList();
        }
        if (!(part instanceof Map<?, ?> members)) {
            return part;
        }
        boolean joins = members.containsKey("query") || members.containsKey("type");
        Map<Object, Object> kept = new LinkedHashMap<>();
        members.forEach((name, value) -> {
            if (!joins || !INNER_HITS.equals(name)) {
                kept.put(name, drop(value));
            }
        });
        return kept;
    }
}
