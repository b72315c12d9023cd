package ibidem.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Cache of the records next to indexes: read as the caller, and kept for that caller for a few seconds.
 *
 * @param <T> type of a parsed record
 */
public final class LedgerCache<T> {
    private static final long NANOS = 5_000_000_000L;
    private static final int CALLERS = 1_000;
    private static final int SLICE = 1_000;

    private record Key(Collection<String> ledgers, String caller) {}

    private record Kept<T>(List<T> records, long until) {}

    /**
     * One of the searches that read a ledger.
     *
     * @param ledgers the indexes that hold it
     * @param after behind which record, by the sort values of its hit; null for the first ones
     * @param size how many
     */
    public record Slice(Collection<String> ledgers, Object[] after, int size) {}

    /**
     * The cached records.
     *
     * @param sources the documents
     * @param last the sort values of the last one; null where there is none
     */
    public record Found(List<Map<String, Object>> sources, Object[] last) {}

    /** Asks for a slice as the caller; empty if it is missing or the caller may not read it. */
    public interface Reader {
        void read(Slice slice, Consumer<Found> next);
    }

    private final Map<Key, Kept<T>> kept = new LinkedHashMap<>();
    private final Function<Map<String, ?>, T> parse;
    private final LongSupplier clock;

    /**
     * @param parse reads a record; null where it is none
     * @param clock the time in nanoseconds
     */
    public LedgerCache(Function<Map<String, ?>, T> parse, LongSupplier clock) {
        this.parse = parse;
        this.clock = clock;
    }

    /** Returns whether it is known by now that ledgers hold records. */
    public boolean holds(Collection<String> ledgers, String caller) {
        List<T> known = known(new Key(List.copyOf(ledgers), caller));
        return known != null && !known.isEmpty();
    }

    /**
     * Gives the records of ledgers.
     *
     * @param ledgers the indexes that hold them
     * @param caller who asks
     * @param reader reads them as that caller
     * @param next gets them
     */
    public void of(Collection<String> ledgers, String caller, Reader reader, Consumer<List<T>> next) {
        Key key = new Key(List.copyOf(ledgers), caller);
        List<T> known = ledgers.isEmpty() ? List.of() : known(key);
        if (known != null) {
            next.accept(known);
        } else {
            read(key, null, new ArrayList<>(), reader, next);
        }
    }

    private synchronized List<T> known(Key key) {
        Kept<T> held = kept.get(key);
        return held == null || held.until - clock.getAsLong() <= 0 ? null : held.records;
    }

    private synchronized void keep(Key key, List<T> records) {
        kept.remove(key);
        kept.put(key, new Kept<>(records, clock.getAsLong() + NANOS));
        if (kept.size() > CALLERS) {
            kept.remove(kept.keySet().iterator().next());
        }
    }

    private void read(Key key, Object[] after, List<T> records, Reader reader, Consumer<List<T>> next) {
        reader.read(new Slice(key.ledgers, after, SLICE), found -> {
            found.sources().forEach(source -> add(source, records));
            if (found.sources().size() == SLICE) {
                read(key, found.last(), records, reader, next);
            } else {
                keep(key, records);
                next.accept(records);
            }
        });
    }

    @SuppressWarnings("unchecked") // an object in JSON
    private void add(Map<String, Object> source, List<T> records) {
        T record = source != null && source.get("entry") instanceof Map<?, ?> entry
                ? parse.apply((Map<String, ?>) entry)
                : null;
        if (record != null) {
            records.add(record);
        }
    }
}
