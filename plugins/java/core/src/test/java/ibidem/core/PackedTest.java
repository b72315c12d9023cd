package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A packed value is read as Python reads it, and refused where Python refuses it. */
class PackedTest {
    static List<JsonNode> values() {
        return Golden.lines("values");
    }

    @ParameterizedTest
    @MethodSource("values")
    void everyValueIsReadAsPythonReadsIt(JsonNode value) {
        Packed packed = Golden.packed(value.get("bytes"));
        JsonNode values = value.get("read");
        if (values.isNull()) {
            assertNull(packed);
            return;
        }
        assertNotNull(packed);
        Map<String, Object> figures = Members.of("scheme", packed.scheme, "flags", packed.flags);
        figures.putAll(Members.of("length", packed.length, "shingles", packed.shingles, "numbers", packed.numbers));
        figures.putAll(Members.of("date_from", packed.dateFrom, "date_to", packed.dateTo));
        figures.forEach((name, figure) -> assertEquals(values.get(name).asLong(), ((Number) figure).longValue(), name));
        String content = packed.hasWords() ? values.get("content").asText() : "none:" + packed.id();
        assertEquals("ch" + values.get("scheme").asInt() + ":" + content, packed.content());
        assertEquals(values.get("id").asText(), packed.id());
        assertEquals(number(values, "idf"), packed.idf);
        assertEquals(number(values, "fingerprint"), packed.fingerprint);
        assertEquals(number(values, "profile"), packed.profile);
        assertEquals((int) number(values, "source"), packed.source);
        assertEquals((int) number(values, "guard"), packed.guard);
        assertEquals((int) number(values, "title"), packed.title);
        IntStream sketch = IntStream.range(0, packed.sketchSize).map(packed::number);
        IntStream slots =
                IntStream.range(0, packed.hasSlots() ? Packed.SLOTS : 0).map(packed::slot);
        assertEquals(
                integers(values, "terms"), IntStream.of(packed.terms()).boxed().toList());
        assertEquals(integers(values, "number_sketch"), sketch.boxed().toList());
        assertEquals(integers(values, "slots"), slots.boxed().toList());
    }

    static Stream<Arguments> verdicts() {
        return Golden.lines("verdicts").stream()
                .map(each -> Arguments.of(
                        each.get("case").asText(),
                        each.get("bytes"),
                        each.get("read").asBoolean()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("verdicts")
    void aValueThatNoDocumentCanHaveCountsAsUnsigned(String value, JsonNode bytes, boolean isRead) {
        assertEquals(isRead, Golden.packed(bytes) != null, value);
    }

    private static long number(JsonNode values, String name) {
        byte[] bytes = HexFormat.of().parseHex(values.get(name).asText());
        long value = 0;
        for (int i = bytes.length - 1; i >= 0; i--) {
            value = value << 8 | bytes[i] & 0xFF;
        }
        return value;
    }

    private static List<Integer> integers(JsonNode values, String name) {
        return values.get(name).valueStream().map(JsonNode::asInt).toList();
    }
}
