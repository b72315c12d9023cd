package ibidem.core;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The hits of a window in rank order: the name and the place of each, and its values for grouping. */
final class Rows<P> {
    final List<Name> names = new ArrayList<>();
    final Packed[] packed;
    private final List<P> places = new ArrayList<>();
    private final BitSet lacking = new BitSet(); // which were never signed, or hold the value of another document

    private record Row<H>(H hit, float score, Name name, Packed packed, boolean isOwn) {
        /** Reads a hit. A packed value that names another document is none of this one's. */
        static <H> Row<H> of(InnerSearches<?, H, ?> responses, H hit) {
            byte[] bytes = PackedField.read(responses.value(hit, PackedField.NAME));
            String id = responses.windowId(hit);
            boolean isOwn = bytes != null && id.equals(Packed.id(bytes));
            Packed packed = isOwn ? Packed.read(bytes) : null;
            return new Row<>(hit, responses.score(hit), new Name(responses.index(hit), id), packed, isOwn);
        }
    }

    /**
     * Reads hits.
     *
     * @param most how many count
     * @param byScore whether equal scores are put in order by index and id
     */
    <H> Rows(InnerSearches<?, H, P> responses, List<H> hits, int most, boolean byScore) {
        List<Row<H>> rows = new ArrayList<>(hits.size());
        hits.forEach(hit -> rows.add(Row.of(responses, hit)));
        if (byScore) {
            rows.sort(Comparator.comparingDouble((Row<H> row) -> -row.score).thenComparing(Row::name));
        }
        packed = new Packed[Math.min(most, rows.size())];
        for (int at = 0; at < packed.length; at++) {
            Row<H> row = rows.get(at);
            names.add(row.name);
            packed[at] = row.packed;
            places.add(responses.place(row.hit));
            lacking.set(at, !row.isOwn);
        }
    }

    /** Returns the documents of hits that were never signed, or hold the value of another document. */
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

    /**
     * Lists the rows of a page, each group's lead first.
     *
     * @param documents the document of each, as a hit holds it; null where it is no longer in the index
     */
    <H> List<ResultList.Item<H, P>> items(Page page, IntFunction<H> documents) {
        List<ResultList.Item<H, P>> items = new ArrayList<>();
        for (Group group : page.groups()) {
            for (int row : group.shown()) {
                H document = documents.apply(row);
                Map<String, Object> mark = page.mark(group, row, document != null);
                items.add(new ResultList.Item<>(names.get(row).id(), places.get(row), document, mark));
            }
        }
        return items;
    }
}
