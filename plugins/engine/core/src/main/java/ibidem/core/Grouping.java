package ibidem.core;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

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
    /** What joined each row to its first occurrence, a code of {@link Decision}. */
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
    private final SharedKeys slots;
    private final RareTerms rare;
    private final List<Name> names;
    private final LongTexts longs;
    private final double width;
    private int row;
    private int best;

    private Grouping(List<Name> names, Packed[] rows, Policy policy, AppliedOverrides overrides, LongTexts longs) {
        this.names = names;
        this.longs = longs;
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
        bands = shared(policy.slots() != null, packed -> packed.hasSlots() ? Packed.BANDS : 0, Packed::band);
        prints = multimap(policy.fingerprint() != null, size);
        profiles = multimap(policy.profile() != null, size);
        lengths = multimap(policy.terms() != null, size);
        boolean noisy = Arrays.stream(rows).anyMatch(packed -> packed != null && noisy(packed));
        runs = shared(
                policy.characters() != null && noisy,
                packed -> packed.noise == null ? 0 : Noise.SLOTS,
                (packed, at) -> packed.noise.band(at));
        boolean parts = policy.partial() && (policy.contained() != null || policy.related() != null);
        slots = shared(parts, packed -> packed.hasSlots() ? Packed.SLOTS : 0, Packed::slotKey);
        rare = policy.relates() && lengths != null ? RareTerms.of(rows, policy.terms()) : null;
        width = lengths == null
                ? 1
                : ROUNDING - Math.log(Math.max(ROUNDING, policy.terms().lengths()));
    }

    private Multimap multimap(boolean counts, int most) {
        return policy.near() && counts ? new Multimap(most) : null;
    }

    private SharedKeys shared(boolean counts, ToIntFunction<Packed> count, SharedKeys.Key key) {
        return policy.near() && counts ? new SharedKeys(rows, count, key) : null;
    }

    private static boolean noisy(Packed packed) {
        return packed.noise != null && packed.noise.noisy;
    }

    /** Groups rows in rank order; null stands for a hit that is not signed. */
    static Grouping of(List<Name> names, Packed[] rows, Policy policy, AppliedOverrides overrides, LongTexts longs) {
        Grouping made = new Grouping(names, rows, policy, overrides, longs);
        for (int row = 0; row < rows.length; row++) {
            made.settle(row);
        }
        return made;
    }

    /** Tells whether a row is the first occurrence of its group. */
    boolean leads(int which) {
        return lead[which] == which;
    }

    private void settle(int which) {
        row = which;
        best = which;
        Packed packed = rows[which];
        if (packed != null && packed.hasWords()) {
            look(packed);
        }
        for (int earlier : overrides.sameAs(which)) {
            if (leads(earlier)) {
                compare(earlier);
            }
        }
        lead[which] = best;
        if (best < which) {
            crowded[which] = false;
        } else if (packed != null && packed.hasWords()) {
            add(packed);
        }
    }

    private void look(Packed packed) {
        look(content, folded(packed));
        if (bands != null) {
            bands.forEach(packed, key -> look(bands.leads, key));
        }
        if (prints != null && packed.strongFingerprint()) {
            look(prints, packed.fingerprint);
        }
        if (profiles != null && packed.profile != 0) {
            look(profiles, packed.profile);
        }
        if (runs != null) {
            runs.forEach(packed, key -> lookAtRuns(packed, key));
        }
        if (slots != null) {
            slots.forEach(packed, key -> look(slots.leads, key));
        }
        if (lengths != null && Decision.eligible(packed, policy.terms())) {
            long bucket = bucket(packed);
            for (long near = bucket - 1; near <= bucket + 1; near++) {
                lookAtSets(packed, near);
            }
        }
    }

    private void look(Multimap leads, long key) {
        int place = leads.place(key);
        if (leads.held(place) >= MOST_LEADS) {
            crowded[row] = true;
            return;
        }
        for (int at = leads.first(place); at != Multimap.END; at = leads.next(at)) {
            compare(leads.value(at));
        }
    }

    /** Compares texts that share a band of their characters, one of them with many unknown words. */
    private void lookAtRuns(Packed packed, long key) {
        Multimap leads = runs.leads;
        int place = leads.place(key);
        if (leads.held(place) >= MOST_LEADS) {
            crowded[row] |= noisy(packed);
            return;
        }
        for (int at = leads.first(place); at != Multimap.END; at = leads.next(at)) {
            if (noisy(packed) || noisy(rows[leads.value(at)])) {
                compare(leads.value(at));
            }
        }
    }

    private void lookAtSets(Packed packed, long bucket) {
        Policy.Terms rule = policy.terms();
        for (int at = lengths.first(lengths.place(bucket)); at != Multimap.END; at = lengths.next(at)) {
            int candidate = lengths.value(at);
            Packed other = rows[candidate];
            if (candidate < best && (bothLong(candidate) ? meet(candidate, bucket) : mayShare(packed, other, rule))) {
                compare(candidate);
            }
        }
    }

    private static boolean mayShare(Packed packed, Packed other, Policy.Terms rule) {
        return packed.bits.mayShare(other.bits, rule.least(Math.min(packed.terms.length, other.terms.length)));
    }

    /** Tells whether the two are long texts, of which more than packed values may have to tell. */
    private boolean bothLong(int candidate) {
        return rare != null && rows[row].isLong() && rows[candidate].isLong();
    }

    private boolean meet(int candidate, long bucket) {
        return rows[row].idf == rows[candidate].idf && rare.meet(row, candidate, bucket == bucket(rows[row]));
    }

    /** Takes an earlier lead where it comes before the best one so far and the row duplicates it. */
    private void compare(int candidate) {
        if (candidate >= best || compared[candidate] == row) {
            return;
        }
        compared[candidate] = row;
        int found = overrides.decided(row, candidate, Decision.code(rows[row], rows[candidate], policy));
        if (found == Decision.UNDECIDED) {
            Evidence evidence =
                    longs.relation(names.get(row), rows[row], names.get(candidate), rows[candidate], policy);
            found = evidence == null ? Decision.NONE : Decision.RELATION;
        }
        if (found != Decision.NONE) {
            code[row] = (byte) found;
            best = candidate;
        }
    }

    private void add(Packed packed) {
        content.add(folded(packed), row);
        if (bands != null) {
            bands.add(packed, row);
        }
        if (prints != null && packed.strongFingerprint()) {
            prints.add(packed.fingerprint, row);
        }
        if (profiles != null && packed.profile != 0) {
            profiles.add(packed.profile, row);
        }
        if (runs != null) {
            runs.add(packed, row);
        }
        if (slots != null) {
            slots.add(packed, row);
        }
        if (lengths != null && Decision.eligible(packed, policy.terms())) {
            lengths.add(bucket(packed), row);
        }
    }

    private static long folded(Packed packed) {
        return packed.contentLow ^ packed.contentHigh;
    }

    /** Returns a number such that two lengths within the rule's ratio have the same one or neighbours. */
    private long bucket(Packed packed) {
        return (long) Math.floor(Math.log(packed.length) / width);
    }
}
