package ibidem.core;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * How to group and show a result list: what {@code ext.ibidem} or a search pipeline asks for, checked.
 *
 * @param collapse whether only leads are listed and carry their duplicates; else these follow their lead
 * @param policy the figures of the decision, the level and the date window among them
 * @param keep which member of a group is shown as its lead
 * @param window how many hits are grouped at once
 * @param most the most duplicates shown of a group, without the lead; null: all
 * @param explain whether each duplicate says why it is one
 * @param facets whether the account counts the window by source and year
 * @param values what was asked for, by name
 * @param waiting whether the preset is none of the built-in ones, until those stored with the indexes are read
 */
public record Request(
        boolean collapse,
        Policy policy,
        Keep keep,
        int window,
        Integer most,
        boolean explain,
        boolean facets,
        Map<String, String> values,
        boolean waiting) {
    public static final int DEEPEST = 10_000;
    private static final long BYTES_OF_A_ROW = 2_048;
    private static final long BYTES_OF_A_ROW_WITH_SLOTS = 8_192;
    private static final int WINDOW = 500;
    private static final int SHOWN_IN_COLLAPSE = 10;
    private static final int LEAST_SIMILARITY = 20;
    private static final int MOST_DAYS = 1_000_000;
    private static final String WINDOW_ALONE = "window";
    private static final String NONE = "none";
    private static final String PRESET = "preset";
    private static final String OFF = "off";
    private static final Pattern WHOLE = Pattern.compile("[0-9]{1,20}");
    private static final List<String> NAMES = List.of(
            "dedupe",
            "level",
            "keep",
            "window",
            "scope",
            "by",
            "similarity",
            "window_days",
            "max_per_group",
            PRESET,
            "explain",
            "facets");
    private static final List<String> LEVELS =
            Arrays.stream(Level.values()).map(Level::word).toList();

    /**
     * Reads a request; null if it asks for the plain response.
     *
     * @param pipeline options of a search pipeline; the request overrides them one by one
     * @param given options of the request itself
     * @throws UsageException an unknown name or value; the message lists the valid ones
     */
    public static Request of(Map<String, ?> pipeline, Map<String, ?> given) {
        Map<String, String> values = new HashMap<>();
        List.of(pipeline, given)
                .forEach(some -> some.forEach((name, value) -> {
                    if (value != null) {
                        values.put(name, value.toString().strip());
                    }
                }));
        refuseWhatTheLayerDoes(values);
        values.keySet().forEach(Request::check);
        if (!values.isEmpty() && !values.containsKey("dedupe")) {
            String name = NAMES.stream().filter(values::containsKey).findFirst().orElseThrow();
            throw new UsageException(name + " is given without dedupe", "add \"dedupe\": \"indent\" or \"collapse\"");
        }
        String mode = one(values, "dedupe", OFF, List.of(OFF, "collapse", "indent"));
        Request read = read(values, Presets.ALL);
        return mode.equals(OFF) ? null : read;
    }

    /** Returns the request with the figures of its preset, which is stored with the indexes. */
    public Request with(List<StoredPreset> stored) {
        Map<String, Policy> known = new LinkedHashMap<>(Presets.ALL);
        stored.forEach(each -> known.put(each.name(), each.policy()));
        if (!known.containsKey(values.get(PRESET))) {
            throw wrong(PRESET, values.get(PRESET), NONE + ", " + String.join(", ", known.keySet()));
        }
        return read(values, known);
    }

    private static Request read(Map<String, String> values, Map<String, Policy> presets) {
        boolean collapse = "collapse".equalsIgnoreCase(values.get("dedupe"));
        String preset = values.getOrDefault(PRESET, NONE);
        boolean known = preset.equalsIgnoreCase(NONE) || presets.containsKey(preset);
        Policy figures = presets.getOrDefault(preset, Policy.DEFAULT);
        one(values, "scope", WINDOW_ALONE, List.of(WINDOW_ALONE));
        one(values, "by", WINDOW_ALONE, List.of(WINDOW_ALONE));
        int window = whole(values, "window", WINDOW, 1, DEEPEST, "hits");
        Keep keep = values.containsKey("keep") ? Keep.read(values.get("keep")) : Keep.RANK;
        if (keep == null) {
            throw wrong("keep", values.get("keep"), Keep.RIGHT);
        }
        return new Request(
                collapse,
                policy(values, figures),
                keep,
                window,
                most(values, collapse, window),
                flag(values, "explain"),
                flag(values, "facets"),
                Map.copyOf(values),
                !known);
    }

    /** Refuses what only the Python layer does, each with the reason. */
    private static void refuseWhatTheLayerDoes(Map<String, String> values) {
        refuse(values, "scope", "matches", "it looks up signatures beyond the window");
        refuse(values, "scope", "index", "it looks up signatures beyond the window");
        refuse(values, "by", "stored", "stored groups are collapsed by the engine itself");
        refuse(values, "cursor", values.get("cursor"), "a point in time makes later pages see the same ranking");
    }

    private static void refuse(Map<String, String> values, String name, String value, String why) {
        if (value != null && value.equalsIgnoreCase(values.get(name))) {
            throw new UsageException(
                    name + "=" + value + " is not done by the plugin: " + why, "ibidem.wrap and the gateway do it");
        }
    }

    private static boolean flag(Map<String, String> values, String name) {
        return one(values, name, "false", List.of("true", "false")).equals("true");
    }

    private static void check(String name) {
        if (!NAMES.contains(name)) {
            throw new UsageException(
                    "unknown parameter '" + name + "'", "the parameters are " + String.join(", ", NAMES));
        }
    }

    private static Policy policy(Map<String, String> values, Policy figures) {
        Policy base = figures;
        if (values.containsKey("similarity")) {
            base = base.similar(whole(values, "similarity", 0, LEAST_SIMILARITY, 100, "percent"));
        }
        String level = one(values, "level", base.level().word(), LEVELS);
        return base.at(Level.valueOf(level.toUpperCase(Locale.ROOT))).within(days(values, base.windowDays()));
    }

    private static Integer days(Map<String, String> values, Integer otherwise) {
        String value = values.get("window_days");
        if (value == null) {
            return otherwise;
        }
        if (value.equalsIgnoreCase(NONE)) {
            return null;
        }
        return whole(value, "window_days", 0, MOST_DAYS, "none, or ", "days");
    }

    /** Returns how many duplicates of a group are shown at most; null: all of them. */
    private static Integer most(Map<String, String> values, boolean collapse, int window) {
        if (!values.containsKey("max_per_group")) {
            return collapse ? Integer.valueOf(Math.min(SHOWN_IN_COLLAPSE, window)) : null;
        }
        int most = whole(values, "max_per_group", 0, 0, DEEPEST, "duplicates");
        if (most > window) {
            throw new UsageException(
                    "max_per_group=" + most + " is more than the window of " + window,
                    String.format(Locale.ROOT, "allowed: 0 to %d; a window holds up to %,d", window, DEEPEST));
        }
        return most;
    }

    private static int whole(Map<String, String> values, String name, int otherwise, int least, int most, String what) {
        String value = values.get(name);
        return value == null ? otherwise : whole(value, name, least, most, "", what);
    }

    private static int whole(String value, String name, int least, int most, String before, String what) {
        if (!WHOLE.matcher(value).matches() || value.length() > 9 || number(value) < least || number(value) > most) {
            throw wrong(
                    name,
                    value,
                    String.format(Locale.ROOT, "%sa whole number, %d to %,d, of %s", before, least, most, what));
        }
        return number(value);
    }

    private static int number(String value) {
        return Integer.parseInt(value);
    }

    private static String one(Map<String, String> values, String name, String otherwise, List<String> right) {
        String value = values.getOrDefault(name, otherwise).toLowerCase(Locale.ROOT);
        if (!right.contains(value)) {
            throw wrong(name, values.get(name), String.join(", ", right));
        }
        return value;
    }

    private static UsageException wrong(String name, String value, String right) {
        return new UsageException(name + "='" + value + "' is not understood", "allowed: " + right);
    }

    /** Estimates the bytes that grouping so many hits takes. */
    public long bytes(int hits) {
        return (long) hits * (policy.partial() ? BYTES_OF_A_ROW_WITH_SLOTS : BYTES_OF_A_ROW);
    }

    /** Returns whether the request needs packed values alone: no stored preset and no long signatures. */
    public boolean oneSearchTells() {
        return !waiting && !policy.partial();
    }

    /** Returns the level that was asked for. */
    public Level level() {
        return policy.level();
    }

    /** Returns the beginning of an account: what was asked for. */
    Map<String, Object> asked() {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("mode", collapse ? "collapse" : "indent");
        told.put("level", level().word());
        told.put("keep", keep.toString());
        told.put("window", window);
        told.put("scope", WINDOW_ALONE);
        return told;
    }
}
