package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A page of groups out of a window is the one that the Python layer makes: groups, marks, reasons and account. */
class PageTest {
    private static final Set<String> NOT_TOLD = Set.of("took_ms", "cursor", "tables", "by");

    static Stream<Arguments> pages() {
        return Stream.of("pages", "books")
                .flatMap(name -> Golden.lines(name).stream())
                .flatMap(window ->
                        window.get("pages").valueStream().map(page -> Arguments.of(page.get("asked"), window, page)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void everyPageIsTheOneThatPythonMakes(JsonNode asked, JsonNode made, JsonNode page) {
        Request given = Request.of(Map.of(), Golden.map(asked));
        List<StoredPreset> presets = new ArrayList<>();
        made.path("presets").forEach(each -> presets.add(StoredPreset.of(Golden.map(each))));
        Request request = given.waiting() ? given.with(presets) : given;
        List<Verdict> words = new ArrayList<>();
        made.get("overrides").forEach(word -> words.add(Verdict.of(Golden.map(word))));
        List<JsonNode> hits = made.get("hits").valueStream().toList();
        Reading reading =
                new Reading(request, page.get("page").asInt(), page.get("size").asInt(), Request.DEEPEST);
        LongTexts longs = new LongTexts();
        Window window;
        do {
            do {
                read(made, longs);
                window =
                        window(hits.subList(0, Math.min(hits.size(), reading.depth())), request.policy(), words, longs);
            } while (!longs.missing().isEmpty());
        } while (!reading.enough(window));
        Page found = reading.page(window, request);
        found.wantLong();
        read(made, longs);

        assertSame(page.get("hits"), Golden.written(shown(found, window, request)));
        ObjectNode account = Golden.written(found.account(new Page.Searched(hits.size(), true, false, 0, "")))
                .deepCopy();
        assertSame(page.get("account"), account.without(NOT_TOLD));
    }

    private static void assertSame(JsonNode wanted, JsonNode found) {
        if (wanted.isArray()) {
            for (int at = 0; at < Math.min(wanted.size(), found.size()); at++) {
                assertSame(wanted.get(at), found.get(at));
            }
            assertEquals(wanted.size(), found.size());
        }
        assertTrue(Golden.same(wanted, found), () -> "\nwanted " + wanted + "\nfound  " + found);
    }

    private static void read(JsonNode made, LongTexts longs) {
        Map<Name, byte[]> values = new HashMap<>();
        made.path("long")
                .forEach(each -> values.put(
                        new Name(each.get(0).asText(), each.get(1).asText()),
                        PackedField.read(each.get(2).asText())));
        longs.take(values);
    }

    private static Window window(List<JsonNode> hits, Policy policy, List<Verdict> words, LongTexts longs) {
        Packed[] packed = hits.stream().map(hit -> Golden.packed(hit.get(2))).toArray(Packed[]::new);
        List<Name> names = hits.stream()
                .map(hit -> new Name(hit.get(0).asText(), hit.get(1).asText()))
                .toList();
        return Window.of(names, packed, policy, words, longs);
    }

    private static List<Map<String, Object>> shown(Page page, Window window, Request request) {
        List<Map<String, Object>> shown = new ArrayList<>();
        for (Group group : page.groups()) {
            Map<String, Object> lead = shown(page, window, group, group.lead());
            List<Map<String, Object>> following = new ArrayList<>();
            group.following().forEach(row -> following.add(shown(page, window, group, row)));
            shown.add(lead);
            if (request.collapse()) {
                lead.put("duplicates", following);
            } else {
                shown.addAll(following);
            }
        }
        return shown;
    }

    private static Map<String, Object> shown(Page page, Window window, Group group, int row) {
        Name name = window.name(row);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("index", name.index());
        told.put("id", name.id());
        told.put("_dedupe", page.mark(group, row, Integer.parseInt(name.id()) % 7 != 0));
        return told;
    }
}
