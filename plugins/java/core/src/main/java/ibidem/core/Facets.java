package ibidem.core;

import java.time.LocalDate;
import java.util.ArrayList;
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

    private final Window window;
    private final Map<Integer, Facet> sources = new LinkedHashMap<>();
    private final Map<Long, Facet> tables = new LinkedHashMap<>();
    private final Map<Integer, Facet> years = new TreeMap<>(Comparator.reverseOrder());

    private static final class Facet {
        private final int row;
        private int documents;
        private final Set<Integer> groups = new HashSet<>();

        Facet(int row) {
            this.row = row;
        }

        void put(Map<String, Object> into) {
            into.put("documents", documents);
            into.put("groups", groups.size());
        }
    }

    private Facets(Window window) {
        this.window = window;
        for (int row = 0; row < window.size; row++) {
            Packed packed = window.packed[row];
            if (packed != null && packed.source != 0) {
                count(sources, packed.source, row);
            }
            if (packed != null && packed.idf != 0) {
                count(tables, packed.idf, row);
            }
            if (packed != null && packed.dateFrom != Packed.NO_DATE) {
                count(years, EPOCH.plusDays(packed.dateFrom).getYear(), row);
            }
        }
    }

    private <K> void count(Map<K, Facet> facets, K value, int row) {
        Facet facet = facets.computeIfAbsent(value, unused -> new Facet(row));
        facet.documents++;
        facet.groups.add(window.grouping.lead()[row]);
    }

    /** Counts a window: sources and tables by one of their documents, the most frequent first; the latest years first. */
    static Map<String, Object> of(Window window) {
        Facets facets = new Facets(window);
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("sources", facets.list(facets.sources));
        values.put("tables", facets.list(facets.tables));
        values.put("years", facets.years());
        return values;
    }

    private List<Map<String, Object>> list(Map<?, Facet> facets) {
        return facets.values().stream()
                .sorted(Comparator.comparingInt((Facet facet) -> -facet.documents))
                .limit(MOST)
                .map(facet -> {
                    Map<String, Object> values = new LinkedHashMap<>();
                    values.put("index", window.name(facet.row).index());
                    values.put("id", window.name(facet.row).id());
                    facet.put(values);
                    return values;
                })
                .toList();
    }

    private List<Map<String, Object>> years() {
        List<Map<String, Object>> values = new ArrayList<>();
        years.forEach((year, facet) -> {
            Map<String, Object> each = new LinkedHashMap<>();
            each.put("year", year);
            facet.put(each);
            values.add(each);
        });
        return values;
    }
}
