package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Inner hits are left out of a query wherever they are, and nothing else is. */
class InnerHitPartsTest {
    private static final Map<String, Object> MATCH = Map.of("match", Map.of("chapters.text", "said"));

    @Test
    void innerHitsOfEveryJoinAreLeftOut() {
        Map<String, Object> nested = Map.of("path", "chapters", "query", MATCH, "inner_hits", Map.of("size", 2));
        Map<String, Object> parent = Map.of("type", "answer", "id", "7", "inner_hits", Map.of());
        Object query = Map.of("bool", Map.of("must", List.of(Map.of("nested", nested), Map.of("parent_id", parent))));
        Object kept = Map.of(
                "bool",
                Map.of(
                        "must",
                        List.of(
                                Map.of("nested", Map.of("path", "chapters", "query", MATCH)),
                                Map.of("parent_id", Map.of("type", "answer", "id", "7")))));
        assertEquals(kept, InnerHitParts.drop(query));
    }

    @Test
    void aFieldOfThatNameStays() {
        Object query = Map.of("term", Map.of("inner_hits", Map.of("value", "x", "boost", 1.0)));
        assertEquals(query, InnerHitParts.drop(query));
    }
}
