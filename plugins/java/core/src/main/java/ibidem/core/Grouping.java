package ibidem.core;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Leader grouping: down the ranking a hit joins the first lead that it duplicates, or else becomes a lead.
 *
 * <p>Only leads that share a key with a hit are compared with it: a hash, a band of the min-hash, or a similar length
 * where feature sets count.
 */
public final class Grouping {
    /** Leads that hold a value, from which on no further ones are looked for under it. */
    private static final int MOST_LEADS = 1_000;

    private static final double ROUNDING = 1e-4;

    /** Row of each row's first occurrence; its own for a lead. */
    final int[] lead;
    /** The evidence that joined each row to its first occurrence, a code of {@link Decision}. */
    final byte[] code;
    /** Whether a lead shares a value with so many leads that it was not compared with all of them. */
    final boolean[] crowded;

    private final Packed[] rows;
    private final Policy policy;
    private final AppliedOverrides overrides;
    private final int[] compared;
    private final Multimap content;
    private final SharedKeys bands;
    private final Multimap prints;
    private final Multimap profiles;
    private final Multimap lengths;
    private final SharedKeys runs;
    private final double width;
    /** A bit for each lead that the row at hand is to be compared with. */
    private final long[] candidates;

    private final long[] byRuns;
    private final long[] noisyRows;
    private int row;
    private int best;

    private Grouping(Packed[] rows, Policy policy, AppliedOverrides overrides) {
        this.rows = rows;
        this.policy = policy;
        this.overrides = overrides;
        int size = rows.length;
        lead = new int[size];
        code = new byte[size];
        crowded = new boolean[size];
        compared = new int[size];
        Arrays.fill(compared, Multimap.END);
        content = new Multimap(size);
        bands = Packed.hasLowBands(policy.slots())
                ? shared(true, Packed.LOW_BANDS, Packed::putLowBands, packed -> true)
                : shared(policy.slots() != null, Packed.BANDS, Packed::putBands, packed -> true);
        prints = multimap(policy.fingerprint() != null, size);
        profiles = multimap(policy.profile() != null, size);
        lengths = multimap(policy.terms() != null, size);
        candidates = new long[SharedKeys.words(size)];
        byRuns = new long[candidates.length];
        noisyRows = new long[candidates.length];
        boolean noisy = policy.characters() != null && markNoisy();
        runs = shared(noisy, Noise.SLOTS, Noise::putBands, packed -> packed.noisy(policy.characters()));
        width = lengths == null
                ? 1
                : ROUNDING - Math.log(Math.max(ROUNDING, policy.terms().lengths()));
    }

    private boolean markNoisy() {
        boolean any = false;
        for (int at = 0; at < rows.length; at++) {
            if (rows[at] != null && rows[at].noisy(policy.characters())) {
                noisyRows[at >>> 6] |= 1L << at;
                any = true;
            }
        }
        return any;
    }

    private Multimap multimap(boolean counts, int most) {
        return policy.near() && counts ? new Multimap(most) : null;
    }

    private SharedKeys shared(boolean counts, int most, SharedKeys.Source source, Predicate<Packed> seeks) {
        return policy.near() && counts ? new SharedKeys(rows, most, source, seeks) : null;
    }

    /** Groups rows in rank order; null for an unsigned hit. */
    static Grouping of(Packed[] rows, Policy policy, AppliedOverrides overrides) {
        Grouping grouping = new Grouping(rows, policy, overrides);
        for (int row = 0; row < rows.length; row++) {
            grouping.settle(row);
        }
        return grouping;
    }

    /** Returns whether a row is the first occurrence of its group. */
    boolean leads(int hit) {
        return lead[hit] == hit;
    }

    private void settle(int hit) {
        row = hit;
        best = hit;
        Packed packed = rows[hit];
        if (packed != null && packed.hasWords()) {
            look(packed);
        }
        for (int earlier : overrides.sameAs(hit)) {
            if (leads(earlier)) {
                compare(earlier);
            }
        }
        lead[hit] = best;
        if (best < hit) {
            crowded[hit] = false;
        } else if (packed != null && packed.hasWords()) {
            add(packed);
        }
    }

    private void look(Packed packed) {
        Arrays.fill(candidates, 0L);
        collect(content, fold(packed));
        if (prints != null && packed.strongFingerprint()) {
            collect(prints, packed.fingerprint);
        }
        if (profiles != null && packed.profile != 0) {
            collect(profiles, packed.profile);
        }
        if (bands != null) {
            crowded[row] |= bands.collect(row, MOST_LEADS, candidates);
        }
        if (runs != null) {
            collectRuns(packed.noisy(policy.characters()));
        }
        compareInOrder();
        if (lengths != null && Decision.eligible(packed, policy.terms())) {
            long bucket = bucket(packed);
            for (long near = bucket - 1; near <= bucket + 1; near++) {
                lookAtSets(packed, near);
            }
        }
    }

    private void collect(Multimap leads, long key) {
        int place = leads.place(key);
        if (leads.count(place) >= MOST_LEADS) {
            crowded[row] = true;
            return;
        }
        for (int at = leads.first(place); at != Multimap.END; at = leads.next(at)) {
            candidates[leads.value(at) >>> 6] |= 1L << leads.value(at);
        }
    }

    /** Collects texts that share a band of their characters, where one of the two has many unknown words. */
    private void collectRuns(boolean noisy) {
        if (noisy) {
            crowded[row] |= runs.collect(row, MOST_LEADS, candidates);
            return;
        }
        Arrays.fill(byRuns, 0L);
        runs.collect(row, MOST_LEADS, byRuns);
        for (int word = 0; word < byRuns.length; word++) {
            candidates[word] |= byRuns[word] & noisyRows[word];
        }
    }

    /** Compares with the candidates down the ranking, until one is a duplicate. */
    private void compareInOrder() {
        for (int word = 0; word < candidates.length && best == row; word++) {
            for (long left = candidates[word]; left != 0 && best == row; left &= left - 1) {
                compare(word * Long.SIZE + Long.numberOfTrailingZeros(left));
            }
        }
    }

    private void lookAtSets(Packed packed, long bucket) {
        Policy.Terms rule = policy.terms();
        for (int at = lengths.first(lengths.place(bucket)); at != Multimap.END; at = lengths.next(at)) {
            int candidate = lengths.value(at);
            Packed other = rows[candidate];
            if (candidate < best && mayShare(packed, other, rule)) {
                compare(candidate);
            }
        }
    }

    private static boolean mayShare(Packed packed, Packed other, Policy.Terms rule) {
        return packed.bits().mayShare(other.bits(), rule.least(Math.min(packed.termCount, other.termCount)));
    }

    /** Takes an earlier lead where it comes before the best one so far and the row duplicates it. */
    private void compare(int candidate) {
        if (candidate >= best || compared[candidate] == row) {
            return;
        }
        compared[candidate] = row;
        int result = overrides.code(row, candidate, Decision.code(rows[row], rows[candidate], policy));
        if (result != Decision.NONE) {
            code[row] = (byte) result;
            best = candidate;
        }
    }

    private void add(Packed packed) {
        content.add(fold(packed), row);
        if (bands != null) {
            bands.add(row);
        }
        if (prints != null && packed.strongFingerprint()) {
            prints.add(packed.fingerprint, row);
        }
        if (profiles != null && packed.profile != 0) {
            profiles.add(packed.profile, row);
        }
        if (runs != null) {
            runs.add(row);
        }
        if (lengths != null && Decision.eligible(packed, policy.terms())) {
            lengths.add(bucket(packed), row);
        }
    }

    private static long fold(Packed packed) {
        return packed.contentLow ^ packed.contentHigh;
    }

    /** Returns a number such that two lengths within the rule's ratio have the same one or neighbours. */
    private long bucket(Packed packed) {
        return (long) Math.floor(Math.log(packed.length) / width);
    }
}
