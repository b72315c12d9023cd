package ibidem.core;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Long signatures of a window, as far as they were read, and what pairs of such texts are to each other. */
final class LongTexts {
    /** Limit of the cache: the long signatures of some three thousand books. */
    private static final long MOST_BYTES = 256L << 20;

    private record Pair(Name row, Name other) {}

    private final Map<Name, Optional<LongSignatures>> known = new HashMap<>();
    private final Set<Name> missing = new TreeSet<>();
    private final Map<Pair, Optional<Evidence>> decided = new HashMap<>();
    private long bytes;

    /** Returns the documents whose long signatures were asked for and are to be read. */
    public Set<Name> missing() {
        return Set.copyOf(missing);
    }

    /** Takes what was missing; a document without long signatures is left out of the values. */
    public void take(Map<Name, byte[]> values) {
        for (Name name : missing) {
            byte[] value = values.getOrDefault(name, new byte[0]);
            boolean fits = bytes + value.length <= MOST_BYTES;
            bytes += fits ? value.length : 0;
            known.put(name, Optional.ofNullable(fits ? LongSignatures.read(value) : null));
        }
        missing.clear();
    }

    /** Asks for the long signatures of a document. */
    void want(Name name) {
        if (!known.containsKey(name)) {
            missing.add(name);
        }
    }

    /** Returns the evidence of a relation; null where there is none, or not all was read so far. */
    Evidence relation(Name row, Packed its, Name other, Packed others, Policy policy) {
        want(row);
        want(other);
        if (!known.containsKey(row) || !known.containsKey(other)) {
            return null;
        }
        return decided.computeIfAbsent(
                        new Pair(row, other), pair -> Optional.ofNullable(decide(row, its, other, others, policy)))
                .orElse(null);
    }

    private Evidence decide(Name row, Packed its, Name other, Packed others, Policy policy) {
        Optional<LongSignatures> own = known.get(row);
        Optional<LongSignatures> theirs = known.get(other);
        return own.isEmpty() || theirs.isEmpty()
                ? null
                : Decision.relation(its, others, own.get(), theirs.get(), policy);
    }
}
