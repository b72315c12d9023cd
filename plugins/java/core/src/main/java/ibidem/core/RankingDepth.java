package ibidem.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The depth of a ranking by neighbours or retrievers, adjusted to that of a window; its parts are JSON as maps.
 *
 * @param hits how many hits are grouped at least
 * @param adjusted what was adjusted, as the account shows it
 */
public record RankingDepth(int hits, List<Map<String, Object>> adjusted) {
    /** Retrievers that rank what others find, with the member that holds these. */
    private static final Map<String, String> NESTED = new TreeMap<>(Map.of(
            "linear", "retrievers",
            "pinned", "retriever",
            "rescorer", "retriever",
            "rrf", "retrievers",
            "rule", "retriever",
            "text_similarity_reranker", "retriever"));

    private static final Set<String> NEIGHBOURS = Set.of("knn", "neural");

    /** Queries that find what others find, with the members that hold these; conditions keep their depth. */
    private static final Map<String, List<String>> HOLDERS = Map.of(
            "bool", List.of("must", "should"),
            "boosting", List.of("positive"),
            "constant_score", List.of("filter"),
            "dis_max", List.of("queries"),
            "function_score", List.of("query"),
            "hybrid", List.of("queries"),
            "nested", List.of("query"),
            "script_score", List.of("query"));

    private static final List<String> CUTTING = List.of("collapse", "search_after", "terminate_after");
    private static final String KNN = "knn";
    private static final String STANDARD = "standard";
    private static final String RETRIEVER = "retriever";
    private static final String RESCORER = "rescorer";
    private static final String RESCORE = "rescore";
    private static final String WINDOW = "rank_window_size";
    private static final String WINDOW_SIZE = "window_size";
    private static final int DEEPEST_RETRIEVER = 10;
    private static final int DEFAULT = 10;

    /** Returns the depth of a page of so many groups; negative for the default. */
    public static RankingDepth of(int window, int size) {
        int hits = Math.min(Request.DEEPEST, Math.max(window, size < 0 ? DEFAULT : size));
        return new RankingDepth(hits, new ArrayList<>());
    }

    /** Makes a search for neighbours find enough of them. */
    public Map<String, Object> nearest(Map<String, Object> knn, String path) {
        Map<String, Object> found = raise(knn, "k", path, hits);
        return knn.containsKey("num_candidates")
                ? raise(found, "num_candidates", path, ((Number) found.get("k")).intValue())
                : found;
    }

    /** Returns whether a query, as JSON, may be one for neighbours, or hold one. */
    public static boolean mayRankNeighbours(String query) {
        return NEIGHBOURS.stream().anyMatch(kind -> query.contains("\"" + kind + "\""));
    }

    /** Makes a query for neighbours, also inside another query, find enough of them. */
    public Object query(Object query, String at) {
        if (!(query instanceof Map<?, ?> outer) || outer.size() != 1) {
            return query;
        }
        String kind = (String) outer.keySet().iterator().next();
        if (!(outer.get(kind) instanceof Map<?, ?>)) {
            return query;
        }
        String path = at + "." + kind;
        Map<String, Object> parts = members(outer.get(kind));
        if (NEIGHBOURS.contains(kind)) {
            return Map.of(kind, neighbours(parts, path));
        }
        for (String name : HOLDERS.getOrDefault(kind, List.of())) {
            parts.computeIfPresent(name, (unused, held) -> each(held, path + "." + name, this::query));
        }
        return Map.of(kind, parts);
    }

    /** Makes a query find enough neighbours, whose field Elasticsearch names by a member and OpenSearch by its name. */
    private Map<String, Object> neighbours(Map<String, Object> parts, String path) {
        if (parts.get("field") instanceof String) {
            return nearest(parts, path);
        }
        parts.replaceAll((name, each) -> each instanceof Map<?, ?> field && !isRadial(field)
                ? nearest(members(field), path + "." + name)
                : each);
        return parts;
    }

    private static boolean isRadial(Map<?, ?> parts) {
        return parts.containsKey("min_score") || parts.containsKey("max_distance");
    }

    /** Changes a part, or each of several, which their numbers tell apart. */
    private static Object each(Object parts, String path, BiFunction<Object, String, Object> change) {
        return parts instanceof List<?> list
                ? IntStream.range(0, list.size())
                        .mapToObj(at -> change.apply(list.get(at), path + "[" + at + "]"))
                        .toList()
                : change.apply(parts, path);
    }

    /** Makes a retriever, and those inside it, rank enough hits. */
    public Map<String, Object> retriever(Object retriever, String path) {
        return retriever(retriever, path, 1);
    }

    private Map<String, Object> retriever(Object retriever, String at, int level) {
        if (level > DEEPEST_RETRIEVER) {
            throw new UsageException(
                    "retrievers are nested more than " + DEEPEST_RETRIEVER + " deep",
                    "put them side by side in one rrf or linear");
        }
        Map<String, Object> outer = members(retriever);
        String kind = outer.keySet().iterator().next();
        String path = at + "." + kind;
        Map<String, Object> parts = members(outer.get(kind));
        if (kind.equals(KNN)) {
            return Map.of(kind, nearest(parts, path));
        }
        if (!kind.equals(STANDARD) && !NESTED.containsKey(kind)) {
            String kinds = Stream.concat(NESTED.keySet().stream(), Stream.of(KNN, STANDARD))
                    .sorted()
                    .collect(Collectors.joining(", "));
            throw new UsageException(
                    "the retriever '" + kind
                            + "' cannot be combined with dedupe: ibidem cannot make its ranking longer",
                    "use one of " + kinds);
        }
        for (String name : CUTTING) {
            if (parts.containsKey(name)) {
                String why =
                        " cannot be combined with dedupe: hits that it leaves out would be missing from every group";
                throw new UsageException(path + "." + name + why, "leave it out");
            }
        }
        if (kind.equals(STANDARD)) {
            parts.computeIfPresent("query", (name, query) -> query(query, path + "." + name));
            return Map.of(kind, parts);
        }
        return Map.of(kind, compound(kind, parts, path, level));
    }

    /** Deepens a retriever that ranks what others find; these rank as many hits as it does. */
    private Map<String, Object> compound(String kind, Map<String, Object> parts, String path, int level) {
        Map<String, Object> deep = kind.equals(RESCORER) ? rescorer(parts, path) : raise(parts, WINDOW, path, hits);
        RankingDepth inside = new RankingDepth(windowSizes(kind, deep).max().orElse(hits), adjusted);
        deep.computeIfPresent(
                NESTED.get(kind),
                (name, inner) -> inner instanceof List<?>
                        ? each(inner, path + "." + name, (part, at) -> inside.weighted(members(part), at, level + 1))
                        : inside.retriever(inner, path, level + 1));
        return deep;
    }

    /** Deepens a retriever, which may be weighted where it is one of several. */
    private Map<String, Object> weighted(Map<String, Object> item, String path, int level) {
        if (!item.containsKey(RETRIEVER)) {
            return retriever(item, path, level);
        }
        item.put(RETRIEVER, retriever(item.get(RETRIEVER), path, level));
        return item;
    }

    /** Deepens a {@code rescorer}, which ranks as many hits as its smallest window holds. */
    private Map<String, Object> rescorer(Map<String, Object> parts, String path) {
        List<Map<String, Object>> rescorers = rescorers(parts);
        Object all = rescorers.size() == 1 ? rescorers.get(0) : rescorers;
        Object deep = each(all, path + "." + RESCORE, (part, at) -> raise(members(part), WINDOW_SIZE, at, hits));
        parts.put(RESCORE, deep instanceof List<?> ? deep : List.of(deep));
        return parts;
    }

    private static List<Map<String, Object>> rescorers(Map<String, Object> parts) {
        return parts.get(RESCORE) instanceof List<?> several
                ? several.stream().map(RankingDepth::members).toList()
                : List.of(members(parts.get(RESCORE)));
    }

    /** Raises a number of a part where it is too small, or left to the engine's default. */
    private Map<String, Object> raise(Map<String, Object> parts, String name, String path, int least) {
        Object asked = parts.get(name);
        long value = asked == null ? DEFAULT : ((Number) asked).longValue();
        if (value < 1 || value > Request.DEEPEST) {
            throw new UsageException(
                    path + "." + name + "=" + value + " is not valid",
                    String.format(Locale.ROOT, "allowed: an integer from 1 to %,d", Request.DEEPEST));
        }
        if (asked != null && value >= least) {
            return parts;
        }
        int used = (int) Math.max(value, least);
        Map<String, Object> entry = Members.of("part", path + "." + name, "asked", asked);
        entry.putAll(Members.of("used", used, "limit", Request.DEEPEST));
        adjusted.add(entry);
        parts.put(name, used);
        return parts;
    }

    /** Returns how many hits a deepened retriever ranks: only these can be grouped. */
    public static int rankedHits(Map<String, Object> retriever) {
        String kind = retriever.keySet().iterator().next();
        return windowSizes(kind, members(retriever.get(kind))).min().orElse(Request.DEEPEST);
    }

    private static IntStream windowSizes(String kind, Map<String, Object> parts) {
        if (!kind.equals(RESCORER)) {
            return parts.get(WINDOW) instanceof Number size ? IntStream.of(size.intValue()) : IntStream.empty();
        }
        return rescorers(parts).stream().mapToInt(each -> ((Number) each.get(WINDOW_SIZE)).intValue());
    }

    /** Copies the members of a JSON object. */
    @SuppressWarnings("unchecked") // the names of JSON's members are strings
    private static Map<String, Object> members(Object part) {
        return new LinkedHashMap<>((Map<String, Object>) part);
    }
}
