package ibidem.core;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How to group and show a result list: what {@code ext.ibidem} or a search pipeline asks for, checked. */
public record Request(
        boolean collapse, // whether only leads are listed and carry their duplicates; else these follow their lead
        Policy policy, // the figures of the decision, the level and the date window among them
        Keep keep,
        int window, // number of hits that are grouped at once
        Integer most, // duplicates shown of a group, without the lead; null: all
        boolean explain, // whether each duplicate says why it is one
        boolean facets, // whether the account counts the window by source and year
        Map<String, String> values) { // the options of the request, by name
    public static final int DEEPEST = 10_000;
    private static final long BYTES_OF_A_ROW = 2_048;
    private static final int WINDOW = 500;
    private static final int SHOWN_IN_COLLAPSE = 10;
    private static final int LEAST_SIMILARITY = 20;
    private static final int MOST_DAYS = 1_000_000;
    private static final String WINDOW_ALONE = "window";
    private static final String AUTO = "auto";
    private static final String NONE = "none";
    private static final String PRESET = "preset";
    private static final String OFF = "off";
    private static final List<String> NAMES =
            List.of(("dedupe level keep window scope by similarity window_days max_per_group preset explain facets")
                    .split(" "));

    /**
     * Reads a request; null if it asks for the plain response.
     *
     * @param pipeline options of a search pipeline; the request overrides them one by one
     * @param options options of the request itself
     * @throws UsageException an unknown name or value; the message lists the valid ones
     */
    public static Request of(Map<String, ?> pipeline, Map<String, ?> options) {
        Map<String, String> values = new HashMap<>();
        List.of(pipeline, options)
                .forEach(source -> source.forEach((name, value) -> {
                    if (value != null) {
                        values.put(name, value.toString().strip());
                    }
                }));
        refuseWhatTheLayerDoes(values);
        for (String name : values.keySet()) {
            if (!NAMES.contains(name)) {
                throw new UsageException(
                        "unknown parameter '" + name + "'", "the parameters are " + String.join(", ", NAMES));
            }
        }
        if (!values.isEmpty() && !values.containsKey("dedupe")) {
            String name = NAMES.stream().filter(values::containsKey).findFirst().orElseThrow();
            throw new UsageException(name + " is given without dedupe", "add \"dedupe\": \"indent\" or \"collapse\"");
        }
        String mode = choice(values, "dedupe", OFF, List.of(OFF, "collapse", "indent"));
        Request request = read(values);
        return mode.equals(OFF) ? null : request;
    }

    private static Request read(Map<String, String> values) {
        boolean collapse = "collapse".equalsIgnoreCase(values.get("dedupe"));
        String preset = values.getOrDefault(PRESET, NONE);
        Policy figures = preset.equalsIgnoreCase(NONE) ? Policy.DEFAULT : Presets.ALL.get(preset);
        if (figures == null) {
            throw wrong(PRESET, preset, NONE + ", " + String.join(", ", Presets.ALL.keySet()) + ", or by=stored alone");
        }
        choice(values, "scope", WINDOW_ALONE, List.of(WINDOW_ALONE));
        choice(values, "by", AUTO, List.of(AUTO, WINDOW_ALONE, Way.STORED));
        int window = integer(values, "window", WINDOW, 1, DEEPEST, "hits");
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
                Map.copyOf(values));
    }

    /** Refuses what only the Python layer does, each with the reason. */
    private static void refuseWhatTheLayerDoes(Map<String, String> values) {
        refuse(values, "scope", "matches", "it needs signatures from outside the window");
        refuse(values, "scope", "index", "it needs signatures from outside the window");
        refuse(values, "document", values.get("document"), "it does not read texts, which tell which passages overlap");
        refuse(values, "level", "partial", "it does not read the parts of long texts");
        refuse(values, "level", "thread", "it does not read the threads that are stored with mails");
        refuse(values, "level", "version", "it does not read the works that are stored with documents");
        refuse(values, "cursor", values.get("cursor"), "a point in time makes later pages see the same ranking");
    }

    private static void refuse(Map<String, String> values, String name, String value, String why) {
        if (value != null && value.equalsIgnoreCase(values.get(name))) {
            throw new UsageException(
                    name + "=" + value + " is not supported by the plugin: " + why, "ibidem.wrap and the gateway do");
        }
    }

    private static boolean flag(Map<String, String> values, String name) {
        return choice(values, name, "false", List.of("true", "false")).equals("true");
    }

    private static Policy policy(Map<String, String> values, Policy figures) {
        Policy base = values.containsKey("similarity")
                ? figures.similar(integer(values, "similarity", 0, LEAST_SIMILARITY, 100, "percent"))
                : figures;
        String level = choice(values, "level", base.level().word(), List.of("identical", "near"));
        return base.at(Level.valueOf(level.toUpperCase(Locale.ROOT))).within(days(values, base.windowDays()));
    }

    private static Integer days(Map<String, String> values, Integer otherwise) {
        String value = values.get("window_days");
        if (value == null || value.equalsIgnoreCase(NONE)) {
            return value == null ? otherwise : null;
        }
        return integer(value, "window_days", 0, MOST_DAYS, "none, or ", "days");
    }

    /** Returns how many duplicates of a group are shown at most; null: all of them. */
    private static Integer most(Map<String, String> values, boolean collapse, int window) {
        if (!values.containsKey("max_per_group")) {
            return collapse ? Integer.valueOf(Math.min(SHOWN_IN_COLLAPSE, window)) : null;
        }
        int most = integer(values, "max_per_group", 0, 0, DEEPEST, "duplicates");
        boolean isWindow = values.containsKey("window") || WINDOW_ALONE.equalsIgnoreCase(values.get("by"));
        if (isWindow && most > window) {
            throw new UsageException(
                    "max_per_group=" + most + " is more than the window of " + window,
                    String.format(Locale.ROOT, "allowed: 0 to %d; a window holds up to %,d", window, DEEPEST));
        }
        return most;
    }

    private static int integer(
            Map<String, String> values, String name, int otherwise, int least, int most, String unit) {
        String value = values.get(name);
        return value == null ? otherwise : integer(value, name, least, most, "", unit);
    }

    private static int integer(String value, String name, int least, int most, String before, String unit) {
        int number = value.matches("[0-9]{1,9}") ? Integer.parseInt(value) : -1;
        if (number < least || number > most) {
            String right = "%san integer from %,d to %,d (%s)";
            throw wrong(name, value, String.format(Locale.ROOT, right, before, least, most, unit));
        }
        return number;
    }

    private static String choice(Map<String, String> values, String name, String otherwise, List<String> right) {
        String value = values.getOrDefault(name, otherwise).toLowerCase(Locale.ROOT);
        if (!right.contains(value)) {
            throw wrong(name, values.get(name), String.join(", ", right));
        }
        return value;
    }

    private static UsageException wrong(String name, String value, String right) {
        return new UsageException(name + "='" + value + "' is not valid", "allowed: " + right);
    }

    /** Estimates the bytes that grouping so many hits takes. */
    static long bytes(int hits) {
        return hits * BYTES_OF_A_ROW;
    }

    /** Returns which way is asked for. */
    String by() {
        return values.getOrDefault("by", AUTO).toLowerCase(Locale.ROOT);
    }

    /** Returns the figures that decide: those that the request does not name are the index's own. */
    Policy policy(Policy own) {
        if (values.containsKey(PRESET) || values.containsKey("similarity")) {
            return policy;
        }
        Level level = values.containsKey("level") ? policy.level() : own.level();
        return own.at(level).within(values.containsKey("window_days") ? policy.windowDays() : own.windowDays());
    }

    /** Returns the request with other figures. */
    Request with(Policy figures) {
        return new Request(collapse, figures, keep, window, most, explain, facets, values);
    }

    /** Returns the beginning of an account: the request's options. */
    Map<String, Object> account() {
        String mode = collapse ? "collapse" : "indent";
        Map<String, Object> account =
                Members.of("mode", mode, "level", policy.level().word());
        account.putAll(Members.of("keep", keep.toString(), "window", window, "scope", WINDOW_ALONE));
        return account;
    }
}
