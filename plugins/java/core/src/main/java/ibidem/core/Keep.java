package ibidem.core;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Which member of a group is shown as its lead, perhaps by sources in the order wished; it never moves the group. */
record Keep(String by, List<String> sources) {
    static final String RIGHT = "rank, earliest, latest, longest, source:NAME,NAME,…";
    static final Keep RANK = new Keep("rank", List.of());
    private static final String SOURCE = "source:";
    private static final long NEVER = 1L << 40;

    /** Reads which member leads; null where it is none of the ways. */
    static Keep read(String value) {
        if (value.startsWith(SOURCE)) {
            List<String> sources = Arrays.stream(
                            value.substring(SOURCE.length()).split(","))
                    .map(String::strip)
                    .filter(name -> !name.isEmpty())
                    .toList();
            return sources.isEmpty() ? null : new Keep(SOURCE, sources);
        }
        String by = value.toLowerCase(Locale.ROOT);
        return List.of("rank", "earliest", "latest", "longest").contains(by) ? new Keep(by, List.of()) : null;
    }

    @Override
    public String toString() {
        return by + String.join(",", sources);
    }

    /** Returns the member that is shown as the lead; ties go to the first in rank. */
    int lead(Packed[] packed, List<Integer> members) {
        List<Integer> hashes = sources.stream().map(Hashes::source).toList();
        return Collections.min(members, Comparator.comparingLong(row -> cost(packed[row], row, hashes)));
    }

    private long cost(Packed value, int row, List<Integer> hashes) {
        return switch (by) {
            case "earliest" -> value == null || value.dateFrom == Packed.NO_DATE ? NEVER : value.dateFrom;
            case "latest" -> value == null || value.dateTo == Packed.NO_DATE ? NEVER : -(long) value.dateTo;
            case "longest" -> value == null ? 0 : -value.length;
            case SOURCE -> {
                int place = hashes.indexOf(value == null ? 0 : value.source);
                yield place < 0 ? NEVER : place;
            }
            default -> row;
        };
    }
}
