package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
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
        JsonNode read = value.get("read");
        if (read.isNull()) {
            assertNull(packed);
            return;
        }
        assertNotNull(packed);
        assertEquals(read.get("flags").asInt(), packed.flags);
        assertEquals(read.get("length").asLong(), packed.length);
        assertEquals(read.get("shingles").asLong(), packed.shingles);
        assertEquals(read.get("date_from").asInt(), packed.dateFrom);
        assertEquals(read.get("date_to").asInt(), packed.dateTo);
        String content = packed.hasWords() ? read.get("content").asText() : "none:" + packed.id();
        assertEquals("ch" + read.get("scheme").asInt() + ":" + content, packed.content());
        assertEquals(read.get("numbers").asInt(), packed.numbers);
        assertEquals(read.get("id").asText(), packed.id());
        assertEquals(little(read, "idf"), packed.idf);
        assertEquals(little(read, "fingerprint"), packed.fingerprint);
        assertEquals(little(read, "profile"), packed.profile);
        assertEquals((int) little(read, "source"), packed.source);
        assertEquals((int) little(read, "guard"), packed.guard);
        assertEquals((int) little(read, "title"), packed.title);
        assertEquals(read.get("scheme").asInt(), packed.scheme);
        assertEquals(whole(read, "terms"), IntStream.of(packed.terms).boxed().toList());
        assertEquals(
                whole(read, "number_sketch"),
                IntStream.range(0, packed.sketched).map(packed::number).boxed().toList());
        assertEquals(
                whole(read, "slots"),
                IntStream.range(0, packed.hasSlots() ? Packed.SLOTS : 0)
                        .map(packed::slot)
                        .boxed()
                        .toList());
    }

    private static long little(JsonNode read, String name) {
        byte[] bytes = HexFormat.of().parseHex(read.get(name).asText());
        long value = 0;
        for (int i = bytes.length - 1; i >= 0; i--) {
            value = value << 8 | bytes[i] & 0xFF;
        }
        return value;
    }

    private static List<Integer> whole(JsonNode read, String name) {
        return read.get(name).valueStream().map(JsonNode::asInt).toList();
    }
}
