package ibidem.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** The members of a JSON object. */
final class Members {
    private Members() {}

    /** Returns them in order, of names and values in turn. */
    static Map<String, Object> of(Object... namesAndValues) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            members.put((String) namesAndValues[at], namesAndValues[at + 1]);
        }
        return members;
    }
}
