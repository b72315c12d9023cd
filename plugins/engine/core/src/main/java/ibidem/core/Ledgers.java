package ibidem.core;

/**
 * What people keep beside indexes and a search looks at.
 *
 * @param overrides manual decisions
 * @param presets sets of figures for the decision
 */
public record Ledgers(LedgerCache<Verdict> overrides, LedgerCache<StoredPreset> presets) {
    public static final String OVERRIDES = "overrides";
    public static final String PRESETS = "presets";

    /** Makes the caches of a node. */
    public static Ledgers of() {
        return new Ledgers(
                new LedgerCache<>(Verdict::of, System::nanoTime),
                new LedgerCache<>(StoredPreset::of, System::nanoTime));
    }
}
