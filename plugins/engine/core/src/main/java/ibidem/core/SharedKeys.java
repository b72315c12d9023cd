package ibidem.core;

import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;

/**
 * Leads by keys of which each row has many.
 *
 * <p>Most keys are held by one row alone and bring nobody together. Two bits for each key, in tables that stay in the
 * processor's cache, tell these, so that only the others are kept and looked up.
 */
final class SharedKeys {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final int SPARE = 8;

    /** Gives one of a row's keys. */
    interface Key {
        long of(Packed packed, int at);
    }

    /** Those of the leads so far. */
    final Multimap leads;

    private final ToIntFunction<Packed> count;
    private final Key key;
    private final long[] once;
    private final long[] again;
    private final int shift;

    /**
     * @param rows the window; null for a row that is not signed
     * @param count how many keys a row has
     * @param key gives each of them
     */
    SharedKeys(Packed[] rows, ToIntFunction<Packed> count, Key key) {
        this.count = count;
        this.key = key;
        int all = 0;
        for (Packed packed : rows) {
            all += counts(packed) ? count.applyAsInt(packed) : 0;
        }
        int size = Integer.highestOneBit(Math.max(Long.SIZE, all)) * SPARE;
        shift = Long.SIZE - Integer.numberOfTrailingZeros(size);
        once = new long[size / Long.SIZE];
        again = new long[size / Long.SIZE];
        for (Packed packed : rows) {
            see(packed);
        }
        int[] shared = new int[1];
        for (Packed packed : rows) {
            if (counts(packed)) {
                forEach(packed, each -> shared[0]++);
            }
        }
        leads = new Multimap(shared[0]);
    }

    private static boolean counts(Packed packed) {
        return packed != null && packed.hasWords();
    }

    private void see(Packed packed) {
        int keys = counts(packed) ? count.applyAsInt(packed) : 0;
        for (int at = 0; at < keys; at++) {
            int bit = bit(key.of(packed, at));
            again[bit >>> 6] |= once[bit >>> 6] & 1L << bit;
            once[bit >>> 6] |= 1L << bit;
        }
    }

    private int bit(long each) {
        return (int) (each * GOLDEN >>> shift);
    }

    /** Gives those keys of a row that another one may hold too. */
    void forEach(Packed packed, LongConsumer each) {
        int keys = count.applyAsInt(packed);
        for (int at = 0; at < keys; at++) {
            long value = key.of(packed, at);
            int bit = bit(value);
            if ((again[bit >>> 6] & 1L << bit) != 0) {
                each.accept(value);
            }
        }
    }

    /** Adds the keys of a lead. */
    void add(Packed packed, int row) {
        forEach(packed, each -> leads.add(each, row));
    }
}
