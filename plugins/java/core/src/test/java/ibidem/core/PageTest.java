package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
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
    private static final Set<String> UNSTABLE_KEYS = Set.of("took_ms", "cursor", "tables", "by");

    static Stream<Arguments> pages() {
        return Golden.lines("pages").stream()
                .flatMap(window ->
                        window.get("pages").valueStream().map(page -> Arguments.of(page.get("asked"), window, page)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void everyPageIsTheOneThatPythonMakes(JsonNode options, JsonNode line, JsonNode page) {
        Request request = Request.of(Map.of(), Golden.map(options));
        List<Verdict> words = new ArrayList<>();
        line.get("overrides").forEach(word -> words.add(Verdict.of(Golden.map(word))));
        List<JsonNode> hits = line.get("hits").valueStream().toList();
        int size = page.get("size").asInt();
        int start = (page.get("page").asInt() - 1) * size;
        Reading reading = new Reading(request, start, size, Request.DEEPEST);
        Window window;
        do {
            window = window(hits.subList(0, Math.min(hits.size(), reading.depth())), request.policy(), words);
        } while (!reading.enough(window));
        Page result = reading.page(window, request);

        assertSame(page.get("hits"), Golden.written(listing(result, window, request)));
        ObjectNode account = Golden.written(result.account(new Page.Outcome(hits.size(), true, false, 0, "")))
                .deepCopy();
        assertSame(page.get("account"), account.without(UNSTABLE_KEYS));
    }

    private static void assertSame(JsonNode golden, JsonNode answer) {
        if (golden.isArray()) {
            for (int at = 0; at < Math.min(golden.size(), answer.size()); at++) {
                assertSame(golden.get(at), answer.get(at));
            }
            assertEquals(golden.size(), answer.size());
        }
        assertTrue(Golden.same(golden, answer), () -> "\nwanted " + golden + "\nfound  " + answer);
    }

    private static Window window(List<JsonNode> hits, Policy policy, List<Verdict> words) {
        Packed[] packed = hits.stream().map(hit -> Golden.packed(hit.get(2))).toArray(Packed[]::new);
        List<Name> names = hits.stream()
                .map(hit -> new Name(hit.get(0).asText(), hit.get(1).asText()))
                .toList();
        return Window.of(names, packed, policy, words);
    }

    private static List<Map<String, Object>> listing(Page page, Window window, Request request) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Group group : page.groups()) {
            Map<String, Object> lead = listing(page, window, group, group.lead());
            List<Map<String, Object>> followers = new ArrayList<>();
            group.followers().forEach(row -> followers.add(listing(page, window, group, row)));
            list.add(lead);
            if (request.collapse()) {
                lead.put("duplicates", followers);
            } else {
                list.addAll(followers);
            }
        }
        return list;
    }

    private static Map<String, Object> listing(Page page, Window window, Group group, int row) {
        Name name = window.name(row);
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("index", name.index());
        document.put("id", name.id());
        document.put("_dedupe", page.mark(group, row, Integer.parseInt(name.id()) % 7 != 0));
        return document;
    }
}
