package ibidem.core;

import java.util.Locale;

/** How sure it is that two documents are duplicates; each level holds those before it. */
public enum Level {
    IDENTICAL,
    NEAR,
    PARTIAL;

    /** Returns the name by which it is asked for and told. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
