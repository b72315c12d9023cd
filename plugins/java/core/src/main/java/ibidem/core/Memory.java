package ibidem.core;

/** The memory that an engine lets grouping take. */
public interface Memory {
    /** Memory of the groups of a window. */
    String WINDOW = "ibidem window";

    /**
     * Takes some, or throws the engine's exception where there is too little.
     *
     * @param bytes how much
     * @param what its purpose
     */
    void take(long bytes, String what);

    /** Gives some back. */
    void free(long bytes);
}
