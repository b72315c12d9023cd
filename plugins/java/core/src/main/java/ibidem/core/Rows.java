package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The hits of a window in rank order: the name of each, and its values for grouping. */
public final class Rows {
    /** Which of the hits, as the engine gave them, each row is. */
    public final int[] order;

    public final Packed[] packed;
    public final List<Name> names;
    /** Which were never signed, or hold the value of another document. */
    private final BitSet lacking = new BitSet();

    private Rows(Row[] rows) {
        order = new int[rows.length];
        packed = new Packed[rows.length];
        Name[] all = new Name[rows.length];
        for (int at = 0; at < rows.length; at++) {
            order[at] = rows[at].at;
            packed[at] = rows[at].packed;
            all[at] = rows[at].name;
            lacking.set(at, rows[at].missing);
        }
        names = List.of(all);
    }

    /** Returns whether some hit was never signed, or holds the value of another document. */
    public boolean missing() {
        return !lacking.isEmpty();
    }

    /** Returns the documents of such hits. */
    List<Name> lacking() {
        return lacking.stream().mapToObj(names::get).toList();
    }

    /**
     * Gives such hits the values of an index of signatures.
     *
     * @param values packed values, each of which has the key of its document
     */
    void fill(List<byte[]> values) {
        Map<String, byte[]> byKey = new HashMap<>();
        values.forEach(value -> byKey.put(Packed.id(value), value));
        for (int at = lacking.nextSetBit(0); at >= 0; at = lacking.nextSetBit(at + 1)) {
            byte[] value = byKey.get(names.get(at).key());
            if (value != null) {
                packed[at] = Packed.read(value);
                lacking.clear(at);
            }
        }
    }

    private record Row(int at, float score, Name name, Packed packed, boolean missing) {}

    /** Hits of a window as they come. */
    public static final class Builder {
        private final List<Row> rows = new ArrayList<>();

        /**
         * Adds a hit. A packed value that names another document is none of this one's.
         *
         * @param index its index
         * @param id its id, as the engine has it
         * @param score its score
         * @param value its packed value, as the engine gives it; null where there is none
         */
        public void add(String index, String id, float score, Object value) {
            byte[] bytes = PackedField.read(value);
            boolean isOwn = bytes != null && id.equals(Packed.id(bytes));
            Packed packed = isOwn ? Packed.read(bytes) : null;
            rows.add(new Row(rows.size(), score, new Name(index, id), packed, !isOwn));
        }

        /**
         * Puts them in order.
         *
         * @param most how many count
         * @param byScore whether equal scores are put in order by index and id
         */
        public Rows rows(int most, boolean byScore) {
            Row[] all = rows.toArray(Row[]::new);
            if (byScore) {
                Arrays.sort(
                        all, Comparator.comparingDouble((Row row) -> -row.score).thenComparing(Row::name));
            }
            return new Rows(Arrays.copyOf(all, Math.min(most, all.length)));
        }
    }
}
