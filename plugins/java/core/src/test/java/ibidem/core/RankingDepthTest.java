package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A ranking is made as deep as the Python layer makes it, or refused with the same words. */
class RankingDepthTest {
    static List<JsonNode> depths() {
        return Golden.lines("depths");
    }

    @ParameterizedTest
    @MethodSource("depths")
    void aRankingIsAsDeepAsThatOfTheLayer(JsonNode line) {
        RankingDepth depth = new RankingDepth(line.get("window").asInt(), new ArrayList<>());
        if (line.has("error")) {
            UsageException error = assertThrows(UsageException.class, () -> deep(depth, line.get("part")));
            assertEquals(line.get("error").asText(), error.getMessage());
            return;
        }
        Object deep = deep(depth, line.get("part"));
        assertSame(line.get("deep"), deep);
        assertSame(line.get("adjusted"), depth.adjusted());
        if (line.has("ranked")) {
            assertEquals(line.get("ranked").asInt(), RankingDepth.rankedHits(Golden.map(Golden.written(deep))));
        }
    }

    private static Object deep(RankingDepth depth, JsonNode part) {
        return part.has("query")
                ? depth.query(Golden.map(part.get("query")), "query")
                : depth.retriever(Golden.map(part.get("retriever")), "retriever");
    }

    private static void assertSame(JsonNode expected, Object actual) {
        JsonNode written = Golden.written(actual);
        assertTrue(Golden.same(expected, written), () -> expected + " and " + written);
    }
}
