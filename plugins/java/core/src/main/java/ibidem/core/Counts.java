package ibidem.core;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Counts of a window's documents. */
final class Counts {
    /** Tokens in a shingle: a shorter text is one shingle, and only its equals are near it. */
    private static final int SHINGLE = 5;

    private final Window window;
    private final Map<String, Integer> tables;

    Counts(Window window) {
        this.window = window;
        tables = countTables(window);
    }

    /** Counts the hits that carry no signatures, or have no words to sign. */
    int unsigned() {
        int count = 0;
        for (int row = 0; row < window.size; row++) {
            Packed packed = window.packed[row];
            count += packed == null || !packed.hasWords() ? 1 : 0;
        }
        return count;
    }

    int crowded() {
        int count = 0;
        for (int row = 0; row < window.size; row++) {
            count += window.grouping.crowded()[row] ? 1 : 0;
        }
        return count;
    }

    /** Counts signed texts of fewer than five tokens. */
    int tooShort() {
        int count = 0;
        for (int row = 0; row < window.size; row++) {
            Packed packed = window.packed[row];
            count += packed != null && packed.hasWords() && packed.length < SHINGLE ? 1 : 0;
        }
        return count;
    }

    /** Returns how many documents each idf table signed, by the table's name. */
    Map<String, Integer> tables() {
        return tables;
    }

    /** Counts the documents whose idf table is not the one that most were signed with. */
    int mixedTables() {
        int all = tables.values().stream().mapToInt(Integer::intValue).sum();
        return all - tables.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    /** Counts by number first, since a name takes longer to write than to count. */
    private static Map<String, Integer> countTables(Window window) {
        Map<Long, Integer> counts = new HashMap<>();
        Map<Long, String> names = new HashMap<>();
        for (int row = 0; row < window.size; row++) {
            Packed packed = window.packed[row];
            if (packed != null && packed.idf != 0) {
                counts.merge(packed.idf, 1, Integer::sum);
                names.computeIfAbsent(packed.idf, idf -> packed.table());
            }
        }
        Map<String, Integer> tables = new TreeMap<>();
        counts.forEach((idf, count) -> tables.put(names.get(idf), count));
        return tables;
    }
}
