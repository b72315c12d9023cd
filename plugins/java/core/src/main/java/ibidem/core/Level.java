package ibidem.core;

import java.util.Locale;

/** How sure it is that two documents are duplicates; each level holds those before it. */
public enum Level {
    IDENTICAL,
    NEAR;

    /** Returns its name in requests and responses. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
