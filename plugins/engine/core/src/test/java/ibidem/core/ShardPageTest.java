package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A shard makes the page that the coordinating node would make of the same window, or says that it cannot. */
class ShardPageTest {
    private static final String BY = "plugin";

    static Stream<Arguments> windows() {
        return Golden.lines("pages").stream()
                .flatMap(window ->
                        window.get("pages").valueStream().map(page -> Arguments.of(page.get("asked"), window, page)))
                .filter(each -> request(each).oneSearchTells());
    }

    private static Request request(Arguments each) {
        return Request.of(Map.of(), Golden.map((JsonNode) each.get()[0]));
    }

    private static ShardPage.Asked asked(Request request, int page, int size, int deepest) {
        return new ShardPage.Asked(request.values(), (page - 1) * size, size, deepest, BY);
    }

    private static Rows.Builder rows(List<JsonNode> hits, float[] scores) {
        Rows.Builder rows = new Rows.Builder();
        for (int at = 0; at < hits.size(); at++) {
            JsonNode hit = hits.get(at);
            String packed = hit.get(2).isNull() ? null : hit.get(2).asText();
            rows.add(hit.get(0).asText(), hit.get(1).asText(), scores[at], packed);
        }
        return rows;
    }

    private static float[] falling(int count) {
        float[] scores = new float[count];
        for (int at = 0; at < count; at++) {
            scores[at] = count - at;
        }
        return scores;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("windows")
    void thePageOfAShardIsThatOfTheCoordinatingNode(JsonNode values, JsonNode made, JsonNode wanted) {
        Request request = Request.of(Map.of(), Golden.map(values));
        List<JsonNode> hits = made.get("hits").valueStream().toList();
        int size = wanted.get("size").asInt();
        int number = wanted.get("page").asInt();
        if (size == 0) {
            return;
        }
        Reading reading = new Reading(request, number, size, Request.DEEPEST);
        List<JsonNode> read = hits.subList(0, Math.min(hits.size(), reading.depthWithEquals()));
        float[] scores = falling(read.size());
        ShardPage found =
                ShardPage.of(rows(read, scores), scores, hits.size(), asked(request, number, size, Request.DEEPEST));
        ShardPage.Received received = ShardPage.Received.of(found.told());

        Rows rows = rows(read, scores).rows(reading.depth(), true);
        Window window = Window.of(rows.names, rows.packed, request.policy(), List.of(), new LongTexts());
        if (!reading.enough(window)) {
            assertEquals(ShardPage.Outcome.UNKNOWN, received.outcome());
            return;
        }
        Page page = reading.page(window, request);
        Map<String, Object> account = page.account(new Page.Searched(hits.size(), true, rows.missing, 7, BY));
        assertEquals(account, received.account(true, 7));
        assertEquals(marks(page), carried(found, received, rows));
        assertEquals(page.listed().size(), received.shown());
        assertEquals(scores[0], received.score());
    }

    private static List<Map<String, Object>> marks(Page page) {
        List<Map<String, Object>> marks = new ArrayList<>();
        for (Group group : page.groups()) {
            marks.add(page.mark(group, group.lead(), true));
            group.following().forEach(row -> marks.add(page.mark(group, row, true)));
        }
        return marks;
    }

    private static List<Map<String, Object>> carried(ShardPage page, ShardPage.Received received, Rows rows) {
        Map<Integer, String> ids = new HashMap<>();
        for (int row = 0; row < rows.order.length; row++) {
            ids.put(rows.order[row], rows.names.get(row).id());
        }
        Integer[] hits = IntStream.of(page.shown()).boxed().toArray(Integer[]::new);
        return received.marks(hits, hit -> page.carried(hit, ids.get(hit))).stream()
                .map(ShardPage.Mark::mark)
                .toList();
    }

    private static final Request NEAR = Request.of(Map.of(), Map.of("dedupe", "indent", "window", "5"));

    private static List<JsonNode> some(int count) {
        return Golden.lines("pages")
                .get(0)
                .get("hits")
                .valueStream()
                .limit(count)
                .toList();
    }

    private static ShardPage.Outcome outcome(int count, float[] scores) {
        ShardPage page = ShardPage.of(rows(some(count), scores), scores, count, asked(NEAR, 1, 1, Request.DEEPEST));
        return ShardPage.Received.of(page.told()).outcome();
    }

    @Test
    void aWindowThatEndsAmongEqualScoresIsNotThePagesOfAShard() {
        assertEquals(ShardPage.Outcome.WHOLE, outcome(25, falling(25)));
        assertEquals(ShardPage.Outcome.EQUALS, outcome(25, new float[25]));
        assertEquals(ShardPage.Outcome.WHOLE, outcome(24, new float[24]));
    }

    @Test
    void aHitWhoseIdIsAnotherThanItsPackedValueTellsCarriesNothing() {
        float[] scores = falling(25);
        ShardPage page = ShardPage.of(rows(some(25), scores), scores, 25, asked(NEAR, 1, 1, Request.DEEPEST));
        assertNull(page.carried(page.shown()[0], "another"));
        assertNull(page.carried(24, some(25).get(24).get(1).asText()));
    }

    @Test
    void hitsAreReadInTheOrderOfTheirDocuments() {
        assertEquals(
                List.of(1, 2, 0),
                IntStream.of(ShardPage.ascending(new int[] {7, 0, 3})).boxed().toList());
    }
}
