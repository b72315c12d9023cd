package ibidem.core;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Counts of a window's documents. */
final class Counts {
    /** Tokens in a shingle: a shorter text is one shingle, and only its equals are near it. */
    private static final int SHINGLE = 5;

    private final Window window;

    Counts(Window window) {
        this.window = window;
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
            count += window.grouping.crowded[row] ? 1 : 0;
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

    /** Counts the documents that each idf table signed, by the table's name. */
    Map<String, Integer> tables() {
        Map<Long, String> names = new HashMap<>(); // a name is written once, not for each row
        Map<String, Integer> tables = new TreeMap<>();
        for (int row = 0; row < window.size; row++) {
            Packed packed = window.packed[row];
            if (packed != null && packed.idf != 0) {
                tables.merge(names.computeIfAbsent(packed.idf, idf -> packed.table()), 1, Integer::sum);
            }
        }
        return tables;
    }

    /** Counts the documents whose idf table is not the one that most were signed with. */
    int mixedTables() {
        Map<String, Integer> tables = tables();
        int all = tables.values().stream().mapToInt(Integer::intValue).sum();
        return all - tables.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    }
}
