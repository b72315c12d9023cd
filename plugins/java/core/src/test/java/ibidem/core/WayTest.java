package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A search takes the way that the Python layer takes. */
class WayTest {
    static Stream<JsonNode> ways() {
        return Golden.lines("ways").stream()
                .filter(each -> !"partial".equals(each.at("/request/level").asText()));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void theWayIsTheOneThatPythonTakes(JsonNode each) {
        JsonNode state = each.get("state");
        Way way = Way.choose(
                Request.of(Map.of(), Golden.map(each.get("request"))),
                Way.State.of(Map.of(
                                "checkpoint", Golden.map(state.get("checkpoint")),
                                "documents", state.get("documents").asLong(),
                                "ungrouped", state.get("ungrouped").asLong(),
                                "unsettled", state.get("unsettled").asLong(),
                                "has_content", state.get("has_content").asBoolean()))
                        .with(state.get("decisions").asInt()),
                "");
        assertEquals(
                List.of(
                        each.get("by").asText(),
                        each.get("rule").asText(),
                        each.get("why").asText()),
                List.of(way.by(), way.rule(), way.why()));
        assertEquals(Policy.of(Golden.map(each.get("policy"))), way.request().policy());
    }

    @Test
    void aLearnedRuleIsFollowedByStoredGroupsAlone() {
        Map<String, Object> rule = Map.of("learned", Map.of("scheme", "pf1"));
        Way.State state = settled(Map.of("done", Map.of("news/0", 1), "policy", rule));
        Way stored = Way.choose(Request.of(Map.of(), Map.of("dedupe", "indent")), state, "");
        assertEquals(Way.STORED, stored.by());
        assertThrows(UsageException.class, () -> stored.unless("timeout"));
        Request window = Request.of(Map.of(), Map.of("dedupe", "indent", "by", "window"));
        assertThrows(UsageException.class, () -> Way.choose(window, state, ""));
    }

    @Test
    void anEngineThatCannotGroupAllMatchesTakesTheWindow() {
        Way.State state = settled(Map.of("done", Map.of("news/0", 1)));
        Way way = Way.choose(Request.of(Map.of(), Map.of("dedupe", "indent")), state, "too old");
        assertEquals(List.of(Way.WINDOW, "too old"), List.of(way.by(), way.why()));
        Request stored = Request.of(Map.of(), Map.of("dedupe", "indent", "by", "stored"));
        assertThrows(UsageException.class, () -> Way.choose(stored, state, "too old"));
    }

    private static Way.State settled(Map<String, ?> checkpoint) {
        return Way.State.of(Map.of(
                "checkpoint", checkpoint, "documents", 1L, "ungrouped", 0L, "unsettled", 0L, "has_content", true));
    }
}
