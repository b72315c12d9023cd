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
    final double[] similar;

    private PartMatches(TreeMap<Long, Double> found, int width) {
        a = new int[found.size()];
        b = new int[found.size()];
        similar = new double[found.size()];
        int at = 0;
        for (var each : found.entrySet()) {
            a[at] = (int) (each.getKey() / width);
            b[at] = (int) (each.getKey() % width);
            similar[at++] = each.getValue();
        }
    }

    int size() {
        return a.length;
    }

    /**
     * Finds the matching parts of two texts.
     *
     * @param aligned their unique words; null where these were not aligned
     */
    static PartMatches of(LongSignatures a, LongSignatures b, UniqueWords.Alignment aligned) {
        int width = Math.max(1, b.size);
        Counts slots = new Counts(equalSlots(a, b, width));
        Counts anchors = new Counts(anchors(a, b, aligned, width));
        TreeMap<Long, Double> found = new TreeMap<>();
        for (long pair : slots.atLeast(LEAST_SLOTS)) {
            found.put(pair, slots.of(pair) / (double) LongSignatures.SLOTS);
        }
        for (long pair : anchors.atLeast(LEAST_ANCHORS)) {
            found.put(pair, slots.of(pair) / (double) LongSignatures.SLOTS);
        }
        for (long pair : equalProfiles(a, b, width)) {
            found.put(pair, 1.0);
        }
        return new PartMatches(found, width);
    }

    private static long[] equalSlots(LongSignatures a, LongSignatures b, int width) {
        Multimap held = new Multimap(b.size * LongSignatures.SLOTS);
        for (int part = 0; part < b.size; part++) {
            for (int slot = 0; slot < LongSignatures.SLOTS && b.filled(part); slot++) {
                held.add(b.slot(part, slot), part);
            }
        }
        Longs pairs = new Longs();
        for (int part = 0; part < a.size; part++) {
            for (int slot = 0; slot < LongSignatures.SLOTS && a.filled(part); slot++) {
                join(held, a.slot(part, slot), (long) part * width, pairs);
            }
        }
        return pairs.all();
    }

    private static long[] equalProfiles(LongSignatures a, LongSignatures b, int width) {
        Multimap held = new Multimap(b.size);
        for (int part = 0; part < b.size; part++) {
            if (b.filled(part) && b.profiles[part] != 0) {
                held.add(b.profiles[part], part);
            }
        }
        Longs pairs = new Longs();
        for (int part = 0; part < a.size; part++) {
            if (a.filled(part) && a.profiles[part] != 0) {
                join(held, a.profiles[part], (long) part * width, pairs);
            }
        }
        return pairs.all();
    }

    /** Pairs a part with all that hold a value, unless very many do: a form, a banner. */
    private static void join(Multimap held, long key, long from, Longs pairs) {
        int place = held.place(key);
        if (held.held(place) <= MOST_CARRIERS) {
            for (int at = held.first(place); at != Multimap.END; at = held.next(at)) {
                pairs.add(from + held.value(at));
            }
        }
    }

    private static long[] anchors(LongSignatures a, LongSignatures b, UniqueWords.Alignment aligned, int width) {
        if (aligned == null || !aligned.counts()) {
            return new long[0];
        }
        long[] pairs = new long[aligned.a().length];
        for (int at = 0; at < pairs.length; at++) {
            pairs[at] = (long) a.partOfWord[aligned.a()[at]] * width + b.partOfWord[aligned.b()[at]];
        }
        return pairs;
    }

    /** Numbers, more and more of them. */
    private static final class Longs {
        private long[] held = new long[64];
        private int size;

        void add(long value) {
            if (size == held.length) {
                held = Arrays.copyOf(held, 2 * size);
            }
            held[size++] = value;
        }

        long[] all() {
            return Arrays.copyOf(held, size);
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
