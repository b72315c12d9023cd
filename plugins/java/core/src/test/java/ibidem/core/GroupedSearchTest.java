package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A grouped search answers with the page that the Python layer makes of the same ranking, asking for what it needs. */
class GroupedSearchTest {
    private static final Set<String> UNSTABLE_KEYS = Set.of("took_ms", "cursor", "tables", "by", "remedy");
    private static final int BEST = 1_000_000;

    static Stream<Arguments> pages() {
        return Golden.lines("pages").stream()
                .flatMap(window ->
                        window.get("pages").valueStream().map(page -> Arguments.of(page.get("asked"), window, page)));
    }

    private static boolean isThere(String id) {
        return Integer.parseInt(id) % 7 != 0;
    }

    private static OneRanking falling() {
        return new OneRanking(undecided(), at -> BEST - at, id -> true);
    }

    private static OneRanking level() {
        return new OneRanking(undecided(), at -> 1, id -> true);
    }

    private static int from(JsonNode page) {
        return (page.get("page").asInt() - 1) * page.get("size").asInt();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void everyAnswerIsTheOneThatPythonGives(JsonNode values, JsonNode line, JsonNode page) {
        Request request = Request.of(Map.of(), Golden.map(values));
        OneRanking ranking = new OneRanking(line, at -> BEST - at, GroupedSearchTest::isThere);
        ResultList<OneRanking.Hit, Integer> list =
                ranking.search(request, from(page), page.get("size").asInt());
        assertTrue(Golden.same(page.get("hits"), Golden.written(documents(ranking))), page::toString);
        ObjectNode account = Golden.written(list.account()).deepCopy();
        assertTrue(Golden.same(page.get("account"), account.without(UNSTABLE_KEYS)), page::toString);
        assertEquals(0, ranking.memoryBytes, "no memory is kept");
        assertEquals(
                1, ranking.windows.stream().filter(InnerSearches.Depth::first).count());
    }

    private static List<Map<String, Object>> documents(OneRanking ranking) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (List<ResultList.Item<OneRanking.Hit, Integer>> group : ranking.list.groups()) {
            List<Map<String, Object>> members =
                    group.stream().map(each -> json(each, ranking)).toList();
            if (ranking.list.collapse()) {
                members.get(0).put("duplicates", members.subList(1, members.size()));
                all.add(members.get(0));
            } else {
                all.addAll(members);
            }
        }
        return all;
    }

    private static Map<String, Object> json(ResultList.Item<OneRanking.Hit, Integer> each, OneRanking ranking) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("index", ranking.index(each.place()));
        json.put("id", each.id());
        json.put("_dedupe", each.mark());
        return json;
    }

    private static final Request NEAR = Request.of(Map.of(), Map.of("dedupe", "indent", "window", "5"));

    private static JsonNode undecided() {
        return Golden.lines("pages").stream()
                .filter(line -> line.path("overrides").isEmpty())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aWindowThatEndsAmongEqualScoresIsReadInFullOrder() {
        OneRanking ranking = level();
        ranking.search(NEAR, 0, 1);
        assertFalse(ranking.windows.get(0).inFullOrder());
        assertTrue(ranking.windows.get(1).inFullOrder());
        assertEquals(List.of("window", "window", "documents"), ranking.requests);
    }

    @Test
    void aDocumentThatNoLongerMatchesIsNotShownAndNothingIsReadOnceMore() {
        OneRanking ranking = new OneRanking(undecided(), at -> BEST - at, id -> false);
        ranking.search(NEAR, 0, 1);
        assertEquals(List.of("window", "documents"), ranking.requests);
        assertNull(ranking.list.items().get(0).document());
    }

    @Test
    void aSearchThatIsCancelledAsksForNothingMore() {
        OneRanking ranking = level();
        ranking.cancelled = true;
        assertThrows(IllegalStateException.class, () -> ranking.search(NEAR, 0, 1));
        assertEquals(List.of("window"), ranking.requests);
    }

    private static List<Object> groups(OneRanking ranking) {
        return ranking.list.groups().stream()
                .map(group -> group.get(0).mark().get("group"))
                .toList();
    }

    @Test
    void aPageMayBeginBetweenTwoOthers() {
        OneRanking whole = falling();
        OneRanking part = falling();
        whole.search(NEAR, 0, 8);
        part.search(NEAR, 3, 5);
        assertEquals(groups(whole).subList(3, groups(whole).size()), groups(part));
    }

    @Test
    void aRankingWithASecondScoreIsReadInOneWindowWhateverThePage() {
        for (int from : new int[] {0, 3, 40}) {
            OneRanking ranking = falling();
            ranking.rescored = true;
            ranking.search(NEAR, from, 5);
            assertEquals(
                    List.of(5),
                    ranking.windows.stream()
                            .map(InnerSearches.Depth::hits)
                            .distinct()
                            .toList());
        }
    }
}
