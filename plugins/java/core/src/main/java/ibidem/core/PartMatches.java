package ibidem.core;

import java.util.Arrays;
import java.util.TreeMap;

/** Matching parts of two long texts: by sketch and profile, then by aligned words; {@code part_matching.py}. */
final class PartMatches {
    private static final int MOST_CARRIERS = 50;
    private static final int LEAST_ANCHORS = 3;
    private static final int LEAST_SLOTS = 4;

    /** Parts of the one, ascending. */
    final int[] a;
    /** Parts of the other. */
    final int[] b;
    /** Share of equal slots; 1 for equal profiles. */
    final double[] similarity;

    private PartMatches(TreeMap<Long, Double> matches, int width) {
        a = new int[matches.size()];
        b = new int[matches.size()];
        similarity = new double[matches.size()];
        int at = 0;
        for (var each : matches.entrySet()) {
            a[at] = (int) (each.getKey() / width);
            b[at] = (int) (each.getKey() % width);
            similarity[at++] = each.getValue();
        }
    }

    int size() {
        return a.length;
    }

    /**
     * Finds the matching parts of two texts.
     *
     * @param alignment their unique words; null where these were not aligned
     */
    static PartMatches of(LongSignatures a, LongSignatures b, UniqueWords.Alignment alignment) {
        int width = Math.max(1, b.size);
        Counts slots = new Counts(equalSlots(a, b, width));
        Counts anchors = new Counts(anchors(a, b, alignment, width));
        TreeMap<Long, Double> matches = new TreeMap<>();
        for (long pair : slots.atLeast(LEAST_SLOTS)) {
            matches.put(pair, slots.of(pair) / (double) LongSignatures.SLOTS);
        }
        for (long pair : anchors.atLeast(LEAST_ANCHORS)) {
            matches.put(pair, slots.of(pair) / (double) LongSignatures.SLOTS);
        }
        for (long pair : equalProfiles(a, b, width)) {
            matches.put(pair, 1.0);
        }
        return new PartMatches(matches, width);
    }

    private static long[] equalSlots(LongSignatures a, LongSignatures b, int width) {
        Multimap partsBySlot = new Multimap(b.size * LongSignatures.SLOTS);
        for (int part = 0; part < b.size; part++) {
            for (int slot = 0; slot < LongSignatures.SLOTS && b.filled(part); slot++) {
                partsBySlot.add(b.slot(part, slot), part);
            }
        }
        Longs pairs = new Longs();
        for (int part = 0; part < a.size; part++) {
            for (int slot = 0; slot < LongSignatures.SLOTS && a.filled(part); slot++) {
                join(partsBySlot, a.slot(part, slot), (long) part * width, pairs);
            }
        }
        return pairs.all();
    }

    private static long[] equalProfiles(LongSignatures a, LongSignatures b, int width) {
        Multimap partsByProfile = new Multimap(b.size);
        for (int part = 0; part < b.size; part++) {
            if (b.filled(part) && b.profiles[part] != 0) {
                partsByProfile.add(b.profiles[part], part);
            }
        }
        Longs pairs = new Longs();
        for (int part = 0; part < a.size; part++) {
            if (a.filled(part) && a.profiles[part] != 0) {
                join(partsByProfile, a.profiles[part], (long) part * width, pairs);
            }
        }
        return pairs.all();
    }

    /** Pairs a part with all that hold a value, unless very many do: a form, a banner. */
    private static void join(Multimap parts, long key, long from, Longs pairs) {
        int place = parts.place(key);
        if (parts.count(place) <= MOST_CARRIERS) {
            for (int at = parts.first(place); at != Multimap.END; at = parts.next(at)) {
                pairs.add(from + parts.value(at));
            }
        }
    }

    private static long[] anchors(LongSignatures a, LongSignatures b, UniqueWords.Alignment alignment, int width) {
        if (alignment == null || !alignment.counts()) {
            return new long[0];
        }
        long[] pairs = new long[alignment.a().length];
        for (int at = 0; at < pairs.length; at++) {
            pairs[at] = (long) a.partOfWord[alignment.a()[at]] * width
                    + b.partOfWord[alignment.b()[at]];
        }
        return pairs;
    }

    /** Numbers, more and more of them. */
    private static final class Longs {
        private long[] values = new long[64];
        private int size;

        void add(long value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = value;
        }

        long[] all() {
            return Arrays.copyOf(values, size);
        }
    }

    /** How often each of some numbers is there. */
    private static final class Counts {
        private final long[] distinct;
        private final int[] times;

        Counts(long[] pairs) {
            Arrays.sort(pairs);
            distinct = Arrays.stream(pairs).distinct().toArray();
            times = new int[distinct.length];
            int place = -1;
            for (int at = 0; at < pairs.length; at++) {
                place += at == 0 || pairs[at] != pairs[at - 1] ? 1 : 0;
                times[place]++;
            }
        }

        int of(long pair) {
            int place = Arrays.binarySearch(distinct, pair);
            return place < 0 ? 0 : times[place];
        }

        long[] atLeast(int least) {
            return Arrays.stream(distinct).filter(pair -> of(pair) >= least).toArray();
        }
    }
}
