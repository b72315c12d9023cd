package ibidem.elasticsearch;

import ibidem.core.Name;
import ibidem.core.Packed;
import ibidem.core.PackedField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchShardTarget;

/**
 * The hits of a window in rank order, with what each is called and what grouping needs of it.
 *
 * <p>They are copied, since an answer's hits are let go when it has been looked at.
 */
final class Rows {
    /** A place in the ranking. */
    record Place(int docId, float score, Object[] sort, SearchShardTarget shard) {}

    final Place[] places;
    final Packed[] packed;
    final List<Name> names;
    /** Whether some hit holds neither a packed value nor an id. */
    final boolean nameless;
    /** Whether some hit was never signed. */
    final boolean missing;

    private Rows(Place[] places, Packed[] packed, List<Name> names, boolean missing) {
        this.places = places;
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
                    Comparator.comparingDouble((Row row) -> -row.place.score).thenComparing(Row::name));
        }
        int size = Math.min(most, rows.length);
        Place[] places = new Place[size];
        Packed[] packed = new Packed[size];
        List<Name> names = new ArrayList<>(size);
        boolean missing = false;
        for (int at = 0; at < size; at++) {
            places[at] = rows[at].place;
            packed[at] = rows[at].packed;
            names.add(rows[at].name);
            missing |= rows[at].missing;
        }
        return new Rows(places, packed, names, missing);
    }

    private record Row(Place place, Name name, Packed packed, boolean missing) {
        static Row of(SearchHit hit) {
            DocumentField field = hit.field(PackedField.NAME);
            byte[] bytes = PackedField.read(field == null ? null : field.getValue());
            Packed packed = bytes == null ? null : Packed.read(bytes);
            Place place = new Place(hit.docId(), hit.getScore(), hit.getSortValues(), hit.getShard());
            return new Row(place, new Name(hit.getIndex(), id(hit, packed)), packed, bytes == null);
        }

        private static String id(SearchHit hit, Packed packed) {
            if (hit.getId() != null) {
                return hit.getId();
            }
            DocumentField own = hit.field(PackedField.ID);
            if (own != null) {
                return own.getValue().toString();
            }
            return packed == null ? "" : packed.id();
        }
    }
}
