package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Which member of a group is shown as its lead; it never moves the group.
 *
 * @param by how it is chosen
 * @param sources names of sources in the order wished, for {@code source}
 */
public record Keep(By by, List<String> sources) {
    static final String RIGHT = "rank, earliest, latest, longest, source:NAME,NAME,…";
    static final Keep RANK = new Keep(By.RANK, List.of());
    private static final long NEVER = 1L << 40;

    /** Ways of choosing. */
    enum By {
        RANK,
        EARLIEST,
        LATEST,
        LONGEST,
        SOURCE
    }

    /** Reads which member leads; null where it is none of the ways. */
    static Keep read(String value) {
        int colon = value.indexOf(':');
        if (colon >= 0 && value.substring(0, colon).equals("source")) {
            List<String> sources = Arrays.stream(value.substring(colon + 1).split(","))
                    .map(String::strip)
                    .filter(name -> !name.isEmpty())
                    .toList();
            return sources.isEmpty() ? null : new Keep(By.SOURCE, sources);
        }
        for (By by : By.values()) {
            if (by != By.SOURCE && by.name().equalsIgnoreCase(value)) {
                return new Keep(by, List.of());
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return by == By.SOURCE
                ? "source:" + String.join(",", sources)
                : by.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the member that is shown as the lead; ties go to the first in rank. */
    int lead(Packed[] packed, List<Integer> members) {
        List<Integer> hashes = new ArrayList<>();
        sources.forEach(name -> hashes.add(Hashes.source(name)));
        int best = members.get(0);
        long least = Long.MAX_VALUE;
        for (int row : members) {
            long cost = cost(packed[row], row, hashes);
            if (cost < least) {
                least = cost;
                best = row;
            }
        }
        return best;
    }

    private long cost(Packed value, int row, List<Integer> hashes) {
        return switch (by) {
            case RANK -> row;
            case EARLIEST -> value == null || value.dateFrom == Packed.NO_DATE ? NEVER : value.dateFrom;
            case LATEST -> value == null || value.dateTo == Packed.NO_DATE ? NEVER : -(long) value.dateTo;
            case LONGEST -> value == null ? 0 : -value.length;
            case SOURCE -> {
                int place = hashes.indexOf(value == null ? 0 : value.source);
                yield place < 0 ? NEVER : place;
            }
        };
    }
}
