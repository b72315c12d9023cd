package ibidem.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.LongConsumer;

/**
 * The matches of one pass that share their group with other documents of the shard, and the best of the others, which
 * are each a group of their own.
 *
 * <p>The pass only appends: groups, counts and members are found at its end, in one go over what was appended.
 */
public final class SharedMatches {
    /** The number of a group that a document has for itself. */
    public static final int ALONE = -1;

    private static final int NONE = -1;
    private static final long BYTES = 2 * Integer.BYTES + Float.BYTES;

    private final LongConsumer memory;
    private int[] groups = new int[256];
    private int[] documents = new int[256];
    private float[] scores = new float[256];
    private int size;

    /** @param memory is told before bytes are taken, and may refuse them */
    public SharedMatches(LongConsumer memory) {
        this.memory = memory;
        memory.accept(BYTES * groups.length);
    }

    /** Appends a match: the number of its group, or {@link #ALONE}. */
    public void add(int group, int document, float score) {
        if (size == groups.length) {
            memory.accept(BYTES * size);
            groups = Arrays.copyOf(groups, 2 * size);
            documents = Arrays.copyOf(documents, 2 * size);
            scores = Arrays.copyOf(scores, 2 * size);
        }
        groups[size] = group;
        documents[size] = document;
        scores[size++] = score;
    }

    /** Appends what another part of the same pass has found. */
    public void addAll(SharedMatches other) {
        for (int entry = 0; entry < other.size; entry++) {
            add(other.groups[entry], other.documents[entry], other.scores[entry]);
        }
    }

    public int size() {
        return size;
    }

    public int document(int entry) {
        return documents[entry];
    }

    public float score(int entry) {
        return scores[entry];
    }

    /** An order of entries, which puts the best first and no two as equal. */
    public interface Order {
        int compare(int entry, int other);
    }

    /** Orders by score, and equal scores by document. */
    public Order byScore() {
        return (entry, other) -> scores[entry] == scores[other]
                ? Integer.compare(documents[entry], documents[other])
                : Float.compare(scores[other], scores[entry]);
    }

    /**
     * The groups of a pass.
     *
     * @param best the best entry of each group with a number that matches
     * @param sizes how many documents of each match
     * @param page the best groups, best first: the entries of all matches of each in their order
     */
    public record Groups(int[] best, int[] sizes, List<int[]> page) {}

    /**
     * Finds the best groups, which are ordered by their best match.
     *
     * @param known how many groups have a number
     * @param most how many are found
     */
    public Groups groups(int known, Order order, int most) {
        memory.accept(Integer.BYTES * ((long) known + size));
        int[] slotOf = new int[known];
        int[] next = new int[size];
        int[] best = new int[16];
        int[] last = new int[16];
        int[] sizes = new int[16];
        int slots = 0;
        PriorityQueue<Integer> top = new PriorityQueue<>((entry, other) -> order.compare(other, entry));
        for (int entry = 0; entry < size; entry++) {
            next[entry] = NONE;
            if (groups[entry] == ALONE) {
                offer(top, entry, most, order);
                continue;
            }
            int slot = slotOf[groups[entry]] - 1;
            if (slot < 0) {
                slot = slots++;
                slotOf[groups[entry]] = slots;
                if (slot == best.length) {
                    best = Arrays.copyOf(best, 2 * slot);
                    last = Arrays.copyOf(last, 2 * slot);
                    sizes = Arrays.copyOf(sizes, 2 * slot);
                }
                best[slot] = entry;
                last[slot] = NONE;
            } else if (order.compare(entry, best[slot]) < 0) {
                best[slot] = entry;
            }
            next[entry] = last[slot];
            last[slot] = entry;
            sizes[slot]++;
        }
        for (int slot = 0; slot < slots; slot++) {
            offer(top, best[slot], most, order);
        }
        List<int[]> page = new ArrayList<>();
        while (!top.isEmpty()) {
            int lead = top.remove();
            int number = groups[lead];
            List<Integer> members = new ArrayList<>();
            for (int at = number == ALONE ? lead : last[slotOf[number] - 1]; at != NONE; at = next[at]) {
                members.add(at);
            }
            page.add(members.stream()
                    .sorted(order::compare)
                    .mapToInt(entry -> entry)
                    .toArray());
        }
        Collections.reverse(page); // the worst was removed first
        return new Groups(Arrays.copyOf(best, slots), sizes, page);
    }

    /** Keeps the best entries; the worst of them is on top. */
    private static void offer(PriorityQueue<Integer> top, int entry, int most, Order order) {
        if (top.size() < most) {
            top.add(entry);
        } else if (most > 0 && order.compare(entry, top.element()) < 0) {
            top.remove();
            top.add(entry);
        }
    }
}
