package ibidem.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Readers' overrides about pairs of rows of one window; they beat all evidence. */
final class AppliedOverrides {
    static final AppliedOverrides NONE = new AppliedOverrides();

    /** A decision on a row and another one, and whether both texts are unchanged since then. */
    record Word(int other, Verdict word, boolean holds) {}

    private record Pair(int later, int earlier) {}

    private final Map<Pair, Verdict> valid = new LinkedHashMap<>();
    private final Map<Pair, Verdict> stale = new LinkedHashMap<>();
    private final Map<Integer, List<Integer>> same = new HashMap<>();

    private AppliedOverrides() {}

    /** Finds the manual decisions on pairs of a window, and which of them hold. */
    static AppliedOverrides of(Collection<Verdict> words, List<Name> names, Packed[] packed) {
        if (words.isEmpty()) {
            return NONE;
        }
        Map<Name, Integer> rows = new HashMap<>();
        for (int row = 0; row < names.size(); row++) {
            rows.put(names.get(row), row);
        }
        AppliedOverrides overrides = new AppliedOverrides();
        for (Verdict word : words) {
            Integer a = rows.get(word.a());
            Integer b = rows.get(word.b());
            if (a != null && b != null) {
                boolean holds = unchanged(packed[a], word.contentA()) && unchanged(packed[b], word.contentB());
                (holds ? overrides.valid : overrides.stale).put(new Pair(Math.max(a, b), Math.min(a, b)), word);
            }
        }
        overrides.valid.forEach((pair, word) -> {
            if (word.same()) {
                List<Integer> earlier = overrides.same.computeIfAbsent(pair.later, row -> new ArrayList<>());
                earlier.add(pair.earlier);
            }
        });
        return overrides;
    }

    /** Returns whether a text is unchanged since the decision; true if there is no hash of its scheme. */
    private static boolean unchanged(Packed packed, String content) {
        return packed == null || !content.startsWith(packed.contentScheme()) || content.equals(packed.content());
    }

    /** Returns the earlier rows that a row was declared the same as. */
    List<Integer> sameAs(int row) {
        return same.getOrDefault(row, List.of());
    }

    /** Returns the code of a pair's evidence, as readers want it. */
    int code(int row, int earlier, int code) {
        if (valid.isEmpty()) {
            return code;
        }
        Verdict word = valid.get(new Pair(row, earlier));
        if (word == null || word.same() && code != Decision.NONE) {
            return code;
        }
        return word.same() ? Decision.OVERRIDE : Decision.NONE;
    }

    /** Returns the word that holds about a pair, or null. */
    Verdict between(int row, int other) {
        return valid.isEmpty() ? null : valid.get(new Pair(Math.max(row, other), Math.min(row, other)));
    }

    /** Returns the manual decisions on a row, valid ones first. */
    List<Word> about(int row) {
        List<Word> words = new ArrayList<>();
        collect(row, valid, true, words);
        collect(row, stale, false, words);
        return words;
    }

    private static void collect(int row, Map<Pair, Verdict> verdicts, boolean holds, List<Word> words) {
        verdicts.forEach((pair, word) -> {
            if (row == pair.later || row == pair.earlier) {
                words.add(new Word(row == pair.later ? pair.earlier : pair.later, word, holds));
            }
        });
    }
}
