package ibidem.opensearch;

import ibidem.core.Name;
import ibidem.core.Packed;
import ibidem.core.PackedField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.SearchHit;

/** The hits of a window in rank order, with what each is called and what grouping needs of it. */
final class Rows {
    final SearchHit[] hits;
    final Packed[] packed;
    final List<Name> names;
    /** Whether some hit holds neither a packed value nor an id. */
    final boolean nameless;
    /** Whether some hit was never signed. */
    final boolean missing;

    private Rows(SearchHit[] hits, Packed[] packed, List<Name> names, boolean missing) {
        this.hits = hits;
        this.packed = packed;
        this.names = names;
        this.missing = missing;
        this.nameless = names.stream().anyMatch(name -> name.id().isEmpty());
    }

    /**
     * Reads a window.
     *
     * @param found its hits, perhaps some more
     * @param most how many count
     * @param byScore whether equal scores are put in order by index and id
     */
    static Rows of(SearchHit[] found, int most, boolean byScore) {
        Row[] rows = new Row[found.length];
        for (int at = 0; at < found.length; at++) {
            rows[at] = Row.of(found[at]);
        }
        if (byScore) {
            Arrays.sort(
                    rows,
                    Comparator.comparingDouble((Row row) -> -row.hit.getScore()).thenComparing(Row::name));
        }
        int size = Math.min(most, rows.length);
        SearchHit[] hits = new SearchHit[size];
        Packed[] packed = new Packed[size];
        List<Name> names = new ArrayList<>(size);
        boolean missing = false;
        for (int at = 0; at < size; at++) {
            hits[at] = rows[at].hit;
            packed[at] = rows[at].packed;
            names.add(rows[at].name);
            missing |= rows[at].missing;
        }
        return new Rows(hits, packed, names, missing);
    }

    private record Row(SearchHit hit, Name name, Packed packed, boolean missing) {
        static Row of(SearchHit hit) {
            DocumentField field = hit.field(PackedField.NAME);
            byte[] bytes = PackedField.read(field == null ? null : field.getValue());
            Packed packed = bytes == null ? null : Packed.read(bytes);
            return new Row(hit, new Name(hit.getIndex(), id(hit, packed)), packed, bytes == null);
        }

        private static String id(SearchHit hit, Packed packed) {
            if (hit.getId() != null) {
                return hit.getId();
            }
            DocumentField own = hit.field(PackedField.ID);
            if (own != null) {
                return own.getValue();
            }
            return packed == null ? "" : packed.id();
        }
    }
}
