package ibidem.core;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Long signatures of a window, as far as they were read, and the relations of pairs of such texts. */
final class LongTexts {
    /** Limit of the cache: the long signatures of some three thousand books. */
    private static final long MOST_BYTES = 256L << 20;

    private record Pair(Name row, Name other) {}

    private final Map<Name, Optional<LongSignatures>> signatures = new HashMap<>();
    private final Set<Name> missing = new TreeSet<>();
    private final Map<Pair, Optional<Evidence>> relations = new HashMap<>();
    private long bytes;

    /** Returns the documents whose long signatures are still to be read. */
    public Set<Name> missing() {
        return Set.copyOf(missing);
    }

    /** Takes the missing values; a document without long signatures is left out of the values. */
    public void take(Map<Name, byte[]> values) {
        for (Name name : missing) {
            byte[] value = values.getOrDefault(name, new byte[0]);
            boolean fits = bytes + value.length <= MOST_BYTES;
            bytes += fits ? value.length : 0;
            signatures.put(name, Optional.ofNullable(fits ? LongSignatures.read(value) : null));
        }
        missing.clear();
    }

    /** Asks for the long signatures of a document. */
    void want(Name name) {
        if (!signatures.containsKey(name)) {
            missing.add(name);
        }
    }

    /** Returns the evidence of a relation; null where there is none, or not all was read so far. */
    Evidence relation(Name row, Packed rowValue, Name other, Packed otherValue, Policy policy) {
        want(row);
        want(other);
        if (!signatures.containsKey(row) || !signatures.containsKey(other)) {
            return null;
        }
        return relations
                .computeIfAbsent(
                        new Pair(row, other),
                        pair -> Optional.ofNullable(decide(row, rowValue, other, otherValue, policy)))
                .orElse(null);
    }

    private Evidence decide(Name row, Packed rowValue, Name other, Packed otherValue, Policy policy) {
        Optional<LongSignatures> first = signatures.get(row);
        Optional<LongSignatures> second = signatures.get(other);
        return first.isEmpty() || second.isEmpty()
                ? null
                : Decision.relation(rowValue, otherValue, first.get(), second.get(), policy);
    }
}
