package ibidem.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The files that the Python layer wrote: what it reads of packed values, and what pages it makes. */
final class Golden {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Golden() {}

    static List<JsonNode> lines(String name) {
        try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name + ".jsonl")) {
            List<JsonNode> lines = new ArrayList<>();
            for (String line :
                    new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                lines.add(JSON.readTree(line));
            }
            return lines;
        } catch (IOException unread) {
            throw new IllegalStateException(unread);
        }
    }

    static Packed packed(JsonNode base64) {
        return base64.isNull() ? null : Packed.read(Base64.getDecoder().decode(base64.asText()));
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(JsonNode node) {
        return JSON.convertValue(node, Map.class);
    }

    /** Writes an answer and reads it again, so that it can be compared with Python's. */
    static JsonNode written(Object value) {
        return JSON.valueToTree(value);
    }

    /** Returns whether two are the same JSON, whichever type their numbers have. */
    static boolean same(JsonNode a, JsonNode b) {
        return a.equals(
                (left, right) -> left.isNumber() && right.isNumber()
                        ? left.asDouble() == right.asDouble() ? 0 : 1
                        : left.equals(right) ? 0 : 1,
                b);
    }
}
