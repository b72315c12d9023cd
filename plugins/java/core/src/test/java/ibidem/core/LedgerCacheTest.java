package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Records next to indexes are read as the caller, slice by slice, and cached for that caller for five seconds. */
class LedgerCacheTest {
    private static final Set<String> LEDGERS = Set.of(".ibidem-news");

    private final List<LedgerCache.Slice> slices = new ArrayList<>();
    private long now = Long.MAX_VALUE - 1;
    private int count = 1;

    private final LedgerCache<Object> cache = new LedgerCache<>("overrides", entry -> entry.get("number"), () -> now);

    private List<Object> records(String caller) {
        List<Object> records = new ArrayList<>();
        cache.get(
                LEDGERS,
                caller,
                (slice, next) -> {
                    slices.add(slice);
                    int from = slice.after() == null ? 0 : (int) slice.after()[0] + 1;
                    List<Map<String, Object>> sources = IntStream.range(from, Math.min(count, from + slice.size()))
                            .mapToObj(number -> Map.<String, Object>of("entry", Map.of("number", number)))
                            .toList();
                    next.accept(new LedgerCache.Batch(sources, new Object[] {from + sources.size() - 1}));
                },
                records::addAll);
        return records;
    }

    @Test
    void theyAreReadOnceInFiveSecondsForEachCaller() {
        records("Ada");
        count = 2;
        assertEquals(1, records("Ada").size());
        assertEquals(2, records("Bob").size());
        now += 5_000_000_000L;
        assertEquals(2, records("Ada").size());
    }

    @Test
    void allSlicesAreRead() {
        count = 2_500;
        assertEquals(IntStream.range(0, count).boxed().toList(), records("Ada"));
        assertEquals(3, slices.size());
    }

    @Test
    void aDamagedRecordIsLeftOutAndStopsNothing() {
        LedgerCache<Verdict> overrides = new LedgerCache<>("overrides", Verdict::of, () -> now);
        Map<String, Object> damaged = Map.of("entry", Map.of("a", List.of("news"), "verdict", "not"));
        List<Verdict> read = new ArrayList<>();
        overrides.get(
                LEDGERS,
                "Ada",
                (slice, next) -> next.accept(new LedgerCache.Batch(List.of(damaged, Map.of("entry", 1)), null)),
                read::addAll);
        assertEquals(List.of(), read);
    }

    @Test
    void whatIsNoDecisionForOneLanguageIsNoneForTheOther() {
        Map<String, Object> good = Map.of("a", List.of("news", "a"), "b", List.of("news", "b"), "verdict", "not");
        assertEquals(new Name("news", "a"), Verdict.of(good).a());
        for (Map<String, Object> bad : List.<Map<String, Object>>of(
                Map.of("author", 7), Map.of("a", List.of("news", 1)), Map.of("b", List.of("news", "a")))) {
            Map<String, Object> record = new HashMap<>(good);
            record.putAll(bad);
            assertNull(Verdict.of(record));
        }
    }

    @Test
    void recordsAreLookedForNextToTheNamesOfARequestTheIndexesAndTheirAliases() {
        Set<String> found =
                Ledgers.find(new String[] {"news-1"}, Set.of("news-1"), index -> Set.of("news"), "", name -> true);
        assertEquals(Set.of(".ibidem-news-1", ".ibidem-news"), found);
    }

    @Test
    void withoutLedgersNothingIsAsked() {
        cache.get(Set.of(), "Ada", (slice, next) -> slices.add(slice), records -> {});
        assertEquals(List.of(), slices);
    }
}
