package ibidem.core;

import java.time.LocalDate;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Counts of a window's documents and groups: by source, by idf table, and by the year in which their dates begin. */
final class Facets {
    private static final int MOST = 100;
    private static final LocalDate EPOCH = LocalDate.of(1980, 1, 1);

    private final int row; // a document that has the value
    private final Set<Integer> groups = new HashSet<>();
    private int documents;

    private Facets(int row) {
        this.row = row;
    }

    /** Counts a window: sources and tables by one of their documents, the most frequent first; the latest years first. */
    static Map<String, Object> of(Window window) {
        Map<Integer, Facets> sources = new LinkedHashMap<>();
        Map<Long, Facets> tables = new LinkedHashMap<>();
        Map<Integer, Facets> years = new TreeMap<>(Comparator.reverseOrder());
        for (int row = 0; row < window.size(); row++) {
            Packed packed = window.packed()[row];
            if (packed != null && packed.source != 0) {
                count(sources, packed.source, row, window);
            }
            if (packed != null && packed.idf != 0) {
                count(tables, packed.idf, row, window);
            }
            if (packed != null && packed.dateFrom != Packed.NO_DATE) {
                count(years, EPOCH.plusDays(packed.dateFrom).getYear(), row, window);
            }
        }
        List<Map<String, Object>> byYear = years.entrySet().stream()
                .map(each -> each.getValue().counted(Members.of("year", each.getKey())))
                .toList();
        return Members.of("sources", list(sources, window), "tables", list(tables, window), "years", byYear);
    }

    private static <K> void count(Map<K, Facets> facets, K value, int row, Window window) {
        Facets facet = facets.computeIfAbsent(value, unused -> new Facets(row));
        facet.documents++;
        facet.groups.add(window.lead()[row]);
    }

    private static List<Map<String, Object>> list(Map<?, Facets> facets, Window window) {
        return facets.values().stream()
                .sorted(Comparator.comparingInt(facet -> -facet.documents))
                .limit(MOST)
                .map(facet -> facet.counted(Members.of(
                        "index",
                        window.name(facet.row).index(),
                        "id",
                        window.name(facet.row).id())))
                .toList();
    }

    private Map<String, Object> counted(Map<String, Object> values) {
        values.putAll(Members.of("documents", documents, "groups", groups.size()));
        return values;
    }
}
