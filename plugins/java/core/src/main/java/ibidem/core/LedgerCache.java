package ibidem.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** Cache of the records next to indexes: read as the caller, and cached for that caller for a few seconds. */
public final class LedgerCache<T> {
    private static final long NANOS = 5_000_000_000L;
    private static final int CALLERS = 1_000;
    private static final int SLICE = 1_000;

    private record Key(Collection<String> ledgers, String caller) {}

    private record Entry<T>(List<T> records, long expiry) {}

    /**
     * One of the searches that read a ledger.
     *
     * @param indexes the indexes that hold it
     * @param after behind which record, by the sort values of its hit; null for the first ones
     */
    public record Slice(String ledger, Collection<String> indexes, Object[] after, int size) {}

    /** The documents of records, and the sort values of the last one; null where there is none. */
    public record Batch(List<Map<String, Object>> sources, Object[] last) {}

    /** Asks for a slice as the caller; empty if it is missing or the caller may not read it. */
    public interface Reader {
        void read(Slice slice, Consumer<Batch> next);
    }

    private final Map<Key, Entry<T>> entries = new LinkedHashMap<>();
    private final String ledger;
    private final Function<Map<String, ?>, T> parse;
    private final LongSupplier clock;

    /**
     * @param parse reads a record; null where it is none
     * @param clock the time in nanoseconds
     */
    public LedgerCache(String ledger, Function<Map<String, ?>, T> parse, LongSupplier clock) {
        this.ledger = ledger;
        this.parse = parse;
        this.clock = clock;
    }

    /** Gives the records that some indexes hold, read as the caller. */
    public void get(Collection<String> ledgers, String caller, Reader reader, Consumer<List<T>> next) {
        Key key = new Key(List.copyOf(ledgers), caller);
        List<T> records = ledgers.isEmpty() ? List.of() : lookUp(key);
        if (records != null) {
            next.accept(records);
        } else {
            read(key, null, new ArrayList<>(), reader, next);
        }
    }

    private synchronized List<T> lookUp(Key key) {
        Entry<T> entry = entries.get(key);
        return entry == null || entry.expiry - clock.getAsLong() <= 0 ? null : entry.records;
    }

    private synchronized void keep(Key key, List<T> records) {
        entries.remove(key);
        entries.put(key, new Entry<>(records, clock.getAsLong() + NANOS));
        if (entries.size() > CALLERS) {
            entries.remove(entries.keySet().iterator().next());
        }
    }

    private void read(Key key, Object[] after, List<T> records, Reader reader, Consumer<List<T>> next) {
        reader.read(new Slice(ledger, key.ledgers, after, SLICE), batch -> {
            batch.sources().forEach(source -> add(source, records));
            if (batch.sources().size() == SLICE) {
                read(key, batch.last(), records, reader, next);
            } else {
                keep(key, records);
                next.accept(records);
            }
        });
    }

    /** Another program may have changed a record: then it stops no search, and {@code ibidem doctor} names it. */
    @SuppressWarnings("unchecked") // an object in JSON
    private void add(Map<String, Object> source, List<T> records) {
        try {
            T record = source != null && source.get("entry") instanceof Map<?, ?> entry
                    ? parse.apply((Map<String, ?>) entry)
                    : null;
            if (record != null) {
                records.add(record);
            }
        } catch (RuntimeException damaged) {
            // as if it were not there
        }
    }
}
