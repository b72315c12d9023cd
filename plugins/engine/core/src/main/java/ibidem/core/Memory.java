package ibidem.core;

/** The memory that an engine lets grouping take. */
public interface Memory {
    /** What the groups of a window take. */
    String WINDOW = "ibidem window";
    /** What the long signatures take that are kept until a search is answered. */
    String LONG_SIGNATURES = "ibidem long signatures";

    /**
     * Takes some, or throws the engine's exception where there is too little.
     *
     * @param bytes how much
     * @param what what it is for
     */
    void take(long bytes, String what);

    /** Gives some back. */
    void free(long bytes);
}
