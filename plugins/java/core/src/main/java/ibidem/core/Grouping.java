package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Leader grouping: down the ranking a hit joins the first lead that it duplicates, or else becomes a lead.
 *
 * <p>Only leads that share a key with a hit are compared with it: a hash, a band of the min-hash, or a similar length
 * where feature sets count.
 */
final class Grouping {
    /** Leads that hold a value, from which on no further ones are looked for under it. */
    private static final int MOST_LEADS = 1_000;

    private static final double ROUNDING = 1e-4;
    private static final int NONE = -1;

    final int[] lead; // row of each row's first occurrence; its own for a lead
    /** Whether a lead shares a value with so many leads that it was not compared with all of them. */
    final boolean[] crowded;

    private final Packed[] rows;
    private final Policy policy;
    private final AppliedOverrides overrides;
    private final int[] compared;
    /** Leads by the values that make a pair a candidate whatever the two are. */
    private final List<SharedKeys> keys = new ArrayList<>();
    /** Leads by runs of characters, which count where one of the two has many unknown words; null if none has. */
    private final SharedKeys runs;
    /** The last lead of each bucket of lengths, and the lead before each in its bucket. */
    private final Map<Long, Integer> lastOfLength = new HashMap<>();

    private final int[] beforeInLength;
    private final double width;
    private final long[] candidates; // a bit for each lead that the row at hand is to be compared with
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
        crowded = new boolean[size];
        compared = new int[size];
        Arrays.fill(compared, NONE);
        beforeInLength = new int[size];
        candidates = new long[SharedKeys.words(size)];
        byRuns = new long[candidates.length];
        noisyRows = new long[candidates.length];
        share(1, (packed, into, at) -> put(packed.contentLow ^ packed.contentHigh, true, into, at));
        if (policy.near() && policy.slots() != null) {
            boolean low = Packed.hasLowBands(policy.slots());
            share(low ? Packed.LOW_BANDS : Packed.BANDS, low ? Packed::putLowBands : Packed::putBands);
        }
        if (policy.near() && policy.fingerprint() != null) {
            share(1, (packed, into, at) -> put(packed.fingerprint, packed.strongFingerprint(), into, at));
        }
        if (policy.near() && policy.profile() != null) {
            share(1, (packed, into, at) -> put(packed.profile, packed.profile != 0, into, at));
        }
        Predicate<Packed> noisy = packed -> packed.noisy(policy.characters());
        boolean isNoisy = policy.near() && policy.characters() != null && markNoisy(noisy);
        runs = isNoisy ? new SharedKeys(rows, Noise.SLOTS, Noise::putBands, noisy) : null;
        width = policy.terms() == null
                ? 1
                : ROUNDING - Math.log(Math.max(ROUNDING, policy.terms().lengths()));
    }

    private void share(int most, SharedKeys.Source source) {
        keys.add(new SharedKeys(rows, most, source, packed -> true));
    }

    private static int put(long key, boolean counts, long[] into, int at) {
        into[at] = key;
        return counts ? at + 1 : at;
    }

    private boolean markNoisy(Predicate<Packed> noisy) {
        boolean any = false;
        for (int at = 0; at < rows.length; at++) {
            if (rows[at] != null && noisy.test(rows[at])) {
                noisyRows[at >>> 6] |= 1L << at;
                any = true;
            }
        }
        return any;
    }

    /** Groups rows in rank order; null for an unsigned hit. */
    static Grouping of(Packed[] rows, Policy policy, AppliedOverrides overrides) {
        Grouping grouping = new Grouping(rows, policy, overrides);
        for (int row = 0; row < rows.length; row++) {
            grouping.settle(row);
        }
        return grouping;
    }

    private void settle(int hit) {
        row = hit;
        best = hit;
        Packed packed = rows[hit];
        boolean hasWords = packed != null && packed.hasWords();
        boolean comparesSets =
                hasWords && policy.near() && policy.terms() != null && Decision.eligible(packed, policy.terms());
        if (hasWords) {
            collect(packed);
            compareInOrder();
        }
        // Two lengths within the rule's ratio are in the same bucket or in neighbours.
        long bucket = comparesSets ? (long) Math.floor(Math.log(packed.length) / width) : 0;
        for (long near = bucket - 1; comparesSets && near <= bucket + 1; near++) {
            compareSets(packed, lastOfLength.getOrDefault(near, NONE));
        }
        for (int earlier : overrides.sameAs(hit)) {
            if (lead[earlier] == earlier) {
                compare(earlier);
            }
        }
        lead[hit] = best;
        if (best < hit) {
            crowded[hit] = false;
        } else if (hasWords) {
            keys.forEach(each -> each.add(hit));
            if (runs != null) {
                runs.add(hit);
            }
            if (comparesSets) {
                Integer before = lastOfLength.put(bucket, hit);
                beforeInLength[hit] = before == null ? NONE : before;
            }
        }
    }

    private void collect(Packed packed) {
        Arrays.fill(candidates, 0L);
        for (SharedKeys each : keys) {
            crowded[row] |= each.collect(row, MOST_LEADS, candidates);
        }
        if (runs == null) {
            return;
        }
        if (packed.noisy(policy.characters())) {
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

    /** Compares with the leads of a bucket that may share enough of their terms. */
    private void compareSets(Packed packed, int last) {
        Policy.Terms rule = policy.terms();
        for (int candidate = last; candidate != NONE; candidate = beforeInLength[candidate]) {
            if (candidate < best && packed.mayShare(rows[candidate], rule.least(packed, rows[candidate]))) {
                compare(candidate);
            }
        }
    }

    /** Takes an earlier lead where it comes before the best one so far and the row duplicates it. */
    private void compare(int candidate) {
        if (candidate >= best || compared[candidate] == row) {
            return;
        }
        compared[candidate] = row;
        if (overrides.code(row, candidate, Decision.code(rows[row], rows[candidate], policy)) != Decision.NONE) {
            best = candidate;
        }
    }
}
