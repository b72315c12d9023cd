package ibidem.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A request says how to group, or is refused with the right values. */
class RequestTest {
    private static Request read(Map<String, ?> options) {
        return Request.of(Map.of(), options);
    }

    @Test
    void withoutOtherWordsTheDefaultsHold() {
        Request request = read(Map.of("dedupe", "indent"));
        assertEquals(Policy.DEFAULT, request.policy());
        assertEquals(500, request.window());
        assertNull(request.most());
        assertEquals(10, read(Map.of("dedupe", "collapse")).most());
    }

    @Test
    void offIsThePlainAnswer() {
        assertNull(read(Map.of("dedupe", "off")));
        assertNull(read(Map.of()));
    }

    @Test
    void theRequestOverridesThePipelineValueByValue() {
        Request request =
                Request.of(Map.of("dedupe", "collapse", "level", "identical", "window", 20), Map.of("level", "near"));
        assertTrue(request.collapse());
        assertEquals(Level.NEAR, request.policy().level());
        assertEquals(20, request.window());
        assertNull(Request.of(Map.of("dedupe", "collapse"), Map.of("dedupe", "off")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dedupe       | hide  | off, collapse, indent",
                "level        | close | identical, near",
                "keep         | first | rank, earliest, latest, longest, source:NAME,NAME,…",
                "keep         | source:, | rank, earliest, latest, longest, source:NAME,NAME,…",
                "window       | 0     | an integer from 1 to 10,000 (hits)",
                "window       | 10001 | an integer from 1 to 10,000 (hits)",
                "similarity   | 19    | an integer from 20 to 100 (percent)",
                "window_days  | soon  | none, or an integer from 0 to 1,000,000 (days)",
                "max_per_group| -1    | an integer from 0 to 10,000 (duplicates)",
                "explain      | yes   | true, false",
                "preset       | film  | 'none, news, law, books, scans, conrad2003, or by=stored alone'",
                "scope        | all   | window",
                "by           | rows  | auto, window, stored",
            })
    void aWrongValueIsRefusedWithTheRightOnes(String name, String value, String right) {
        String mode = name.equals("dedupe") ? value : "indent";
        Map<String, String> options = name.equals("dedupe") ? Map.of(name, value) : Map.of("dedupe", mode, name, value);
        UsageException error = assertThrows(UsageException.class, () -> read(options));
        assertEquals(name + "='" + value + "' is not valid; allowed: " + right, error.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "scope,matches,outside the window",
        "scope,index,outside the window",
        "document,meta.file,it does not read texts",
        "level,partial,parts of long texts",
        "level,thread,threads that are stored",
        "level,version,works that are stored",
        "cursor,abc,a point in time"
    })
    void whatOnlyTheLayerDoesIsRefusedByNameWithTheReason(String name, String value, String reason) {
        UsageException error = assertThrows(UsageException.class, () -> read(Map.of("dedupe", "indent", name, value)));
        assertTrue(error.getMessage().startsWith(name + "=" + value + " is not supported by the plugin: "));
        assertTrue(error.getMessage().contains(reason));
        assertTrue(error.getMessage().endsWith("; ibidem.wrap and the gateway do"));
    }

    @Test
    void similaritySetsTheFiguresOfMinHashAndRareTermsTogether() {
        Policy near = read(Map.of("dedupe", "indent", "similarity", 80)).policy();
        assertEquals(67, near.slots());
        assertEquals(0.8, near.terms().share());
        assertNull(read(Map.of("dedupe", "indent", "similarity", 80, "preset", "conrad2003"))
                .policy()
                .slots());
    }

    @Test
    void anUnknownNameIsRefusedWithTheRightOnes() {
        UsageException error =
                assertThrows(UsageException.class, () -> read(Map.of("dedupe", "indent", "lvl", "near")));
        assertTrue(error.getMessage()
                .startsWith("unknown parameter 'lvl'; the parameters are dedupe, level, keep, window"));
    }

    @Test
    void aFigureForGroupsWithoutGroupsIsRefused() {
        UsageException error = assertThrows(UsageException.class, () -> read(Map.of("level", "near")));
        assertTrue(error.getMessage().startsWith("level is given without dedupe"));
    }

    @Test
    void moreDuplicatesThanTheWindowHoldsAreRefused() {
        assertThrows(UsageException.class, () -> read(Map.of("dedupe", "indent", "window", 5, "max_per_group", 6)));
    }
}
