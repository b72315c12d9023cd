package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
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
                        window.get("pages").valueStream().map(page -> Arguments.of(page.get("asked"), window, page)));
    }

    private static ShardPage.Spec spec(Request request, int start, int size, int deepest) {
        return new ShardPage.Spec(request.values(), start, size, deepest, BY);
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

    private static float[] scores(int count) {
        float[] scores = new float[count];
        for (int at = 0; at < count; at++) {
            scores[at] = count - at;
        }
        return scores;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("windows")
    void thePageOfAShardIsThatOfTheCoordinatingNode(JsonNode values, JsonNode line, JsonNode golden) {
        Request request = Request.of(Map.of(), Golden.map(values));
        List<JsonNode> hits = line.get("hits").valueStream().toList();
        int size = golden.get("size").asInt();
        int start = (golden.get("page").asInt() - 1) * size;
        if (size == 0) {
            return;
        }
        Reading reading = new Reading(request, start, size, Request.DEEPEST);
        List<JsonNode> head = hits.subList(0, Math.min(hits.size(), reading.depthWithEquals()));
        float[] scores = scores(head.size());
        ShardPage shardPage =
                ShardPage.of(rows(head, scores), scores, hits.size(), spec(request, start, size, Request.DEEPEST));
        ShardPage.Reply reply = ShardPage.Reply.of(shardPage.values());

        Rows rows = rows(head, scores).rows(reading.depth(), true);
        Window window = Window.of(rows.names, rows.packed, request.policy(), List.of());
        if (!reading.enough(window)) {
            assertEquals(ShardPage.Outcome.UNKNOWN, reply.outcome());
            return;
        }
        Page page = reading.page(window, request);
        Map<String, Object> account = page.account(new Page.Outcome(hits.size(), true, rows.missing, 7, BY));
        assertEquals(account, reply.account(true, 7));
        assertEquals(marks(page), marks(shardPage, reply));
        assertEquals(page.rows().size(), reply.size());
        assertEquals(scores[0], reply.score());
    }

    private static List<Map<String, Object>> marks(Page page) {
        List<Map<String, Object>> marks = new ArrayList<>();
        for (Group group : page.groups()) {
            marks.add(page.mark(group, group.lead(), true));
            group.followers().forEach(row -> marks.add(page.mark(group, row, true)));
        }
        return marks;
    }

    private static List<Map<String, Object>> marks(ShardPage page, ShardPage.Reply reply) {
        Integer[] hits = IntStream.of(page.hits()).boxed().toArray(Integer[]::new);
        return reply.marks(hits, page::values).stream()
                .map(ShardPage.Mark::mark)
                .toList();
    }

    private static final Request NEAR = Request.of(Map.of(), Map.of("dedupe", "indent", "window", "5"));

    private static List<JsonNode> hits(int count) {
        return Golden.lines("pages")
                .get(0)
                .get("hits")
                .valueStream()
                .limit(count)
                .toList();
    }

    private static ShardPage.Outcome outcome(int count, float[] scores) {
        ShardPage page = ShardPage.of(rows(hits(count), scores), scores, count, spec(NEAR, 0, 1, Request.DEEPEST));
        return ShardPage.Reply.of(page.values()).outcome();
    }

    @Test
    void aWindowThatEndsAmongEqualScoresIsNotThePagesOfAShard() {
        assertEquals(ShardPage.Outcome.WHOLE, outcome(25, scores(25)));
        assertEquals(ShardPage.Outcome.EQUALS, outcome(25, new float[25]));
        assertEquals(ShardPage.Outcome.WHOLE, outcome(24, new float[24]));
    }

    @Test
    void aHitThatIsNotOnThePageCarriesNothing() {
        float[] scores = scores(25);
        ShardPage page = ShardPage.of(rows(hits(25), scores), scores, 25, spec(NEAR, 0, 1, Request.DEEPEST));
        assertNotNull(page.values(page.hits()[0]));
        assertNull(page.values(24));
    }

    @Test
    void thePackedValueOfAnotherDocumentIsNoneOfAHits() {
        String packed = hits(1).get(0).get(2).asText();
        String own = hits(1).get(0).get(1).asText();
        Rows.Builder builder = new Rows.Builder();
        builder.add("news0", own, 2, packed);
        builder.add("news0", "forged", 1, packed);
        Rows rows = builder.rows(2, true);
        assertEquals(List.of(new Name("news0", own), new Name("news0", "forged")), rows.names);
        assertNotNull(rows.packed[0]);
        assertNull(rows.packed[1]);
        assertTrue(rows.missing);
    }

    @Test
    void hitsAreReadInTheOrderOfTheirDocuments() {
        assertEquals(
                List.of(1, 2, 0),
                IntStream.of(ShardPage.ascending(new int[] {7, 0, 3})).boxed().toList());
    }
}
