package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Evidence has the codes of Python's table, so that the strongest is the same. */
class DecisionTest {
    static List<JsonNode> evidence() {
        return Golden.lines("evidence");
    }

    @ParameterizedTest
    @MethodSource("evidence")
    void everyKindHasItsCode(JsonNode kind) {
        assertEquals(
                kind.get("signature").asText(),
                Decision.signature(kind.get("code").asInt()));
    }
}
