package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Records next to indexes are read as the caller, slice by slice, and kept for that caller for five seconds. */
class LedgerCacheTest {
    private static final Set<String> LEDGERS = Set.of("news-ibidem-overrides");

    private final List<LedgerCache.Slice> asked = new ArrayList<>();
    private long now = Long.MAX_VALUE - 1;
    private int held = 1;

    private final LedgerCache<Object> cache = new LedgerCache<>(entry -> entry.get("number"), () -> now);

    private List<Object> records(String caller) {
        List<Object> found = new ArrayList<>();
        cache.of(
                LEDGERS,
                caller,
                (slice, next) -> {
                    asked.add(slice);
                    int from = slice.after() == null ? 0 : (int) slice.after()[0] + 1;
                    List<Map<String, Object>> sources = IntStream.range(from, Math.min(held, from + slice.size()))
                            .mapToObj(number -> Map.<String, Object>of("entry", Map.of("number", number)))
                            .toList();
                    next.accept(new LedgerCache.Found(sources, new Object[] {from + sources.size() - 1}));
                },
                found::addAll);
        return found;
    }

    @Test
    void theyAreReadOnceInFiveSeconds() {
        records("Ada");
        held = 2;
        assertEquals(1, records("Ada").size());
        now += 5_000_000_000L;
        assertEquals(2, records("Ada").size());
    }

    @Test
    void anotherCallerReadsThemAgain() {
        records("Ada");
        records("Bob");
        assertEquals(2, asked.size());
    }

    @Test
    void allSlicesAreRead() {
        held = 2_500;
        assertEquals(IntStream.range(0, held).boxed().toList(), records("Ada"));
        assertEquals(3, asked.size());
    }

    @Test
    void withoutLedgersNothingIsAsked() {
        cache.of(Set.of(), "Ada", (slice, next) -> asked.add(slice), found -> {});
        assertEquals(List.of(), asked);
    }
}
