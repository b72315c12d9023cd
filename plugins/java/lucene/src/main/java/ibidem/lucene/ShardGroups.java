package ibidem.lucene;

import ibidem.core.FoundGroups;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.BytesRef;

/**
 * Groups as a shard found them.
 *
 * @param matches how many documents match
 * @param groups how many groups these are
 * @param keys these groups, without documents that have none; null if no other shard has documents of these groups, or
 *     if they are too many
 * @param highest the highest score; not a number without scores
 * @param documents the documents of the page in their order; of a page without groups one that belongs to none of it
 * @param names the name of each one's group; null for a document without a group
 * @param counts how many documents of its group match in this shard; zero if it belongs to no group of the page
 */
public record ShardGroups(
        long matches, long groups, ShardKeys keys, float highest, ScoreDoc[] documents, String[] names, int[] counts) {

    /** A document of a page, its group (null without one), and how many documents of it match in its shard. */
    public record Ranked<H>(Object shard, String name, int count, H hit) {}

    /** Returns what the hit of a document carries as a field; the first one's carries what the shard counts. */
    public List<Object> carried(int at) {
        List<Object> values = new ArrayList<>(Arrays.asList(names[at], counts[at]));
        if (at == 0) {
            values.addAll(List.of(matches, groups, highest));
        }
        if (at == 0 && keys != null) {
            values.addAll(List.of(keys.hashes(), keys.counts()));
        }
        return values;
    }

    /** Reads what the first hit of a shard carries. */
    private static ShardGroups read(List<Object> values) {
        ShardKeys keys = values.size() <= 5 ? null : new ShardKeys((long[]) values.get(5), (int[]) values.get(6));
        long matches = (Long) values.get(2);
        return new ShardGroups(matches, (Long) values.get(3), keys, (Float) values.get(4), null, null, null);
    }

    /** Returns the document of a hit, and adds what it carries of its shard. */
    public static <H> Ranked<H> read(Object shard, List<Object> values, H hit, List<ShardGroups> shards) {
        if (values.size() > 2) {
            shards.add(read(values));
        }
        return new Ranked<>(shard, (String) values.get(0), (Integer) values.get(1), hit);
    }

    /**
     * Makes a page of what shards found.
     *
     * @param ranked the documents of all in their order
     * @param from how many groups are left out at the beginning, if there are several shards
     * @param size how many groups follow
     */
    public static <H> FoundGroups<H> page(
            List<ShardGroups> shards, List<Ranked<H>> ranked, GroupSpec spec, int from, int size) {
        Map<Object, List<Ranked<H>>> groups = new LinkedHashMap<>();
        for (Ranked<H> each : ranked) {
            if (each.count > 0) {
                groups.computeIfAbsent(each.name == null ? each : each.name, key -> new ArrayList<>())
                        .add(each);
            }
        }
        boolean counted = spec.keyed() && shards.stream().allMatch(each -> each.keys != null);
        List<ShardKeys> keys = counted ? shards.stream().map(each -> each.keys).toList() : List.of();
        long all = shards.stream().mapToLong(each -> each.groups).sum();
        all += ShardKeys.distinct(keys);
        all -= keys.stream().mapToLong(each -> each.hashes().length).sum();
        List<FoundGroups.Found<H>> page = new ArrayList<>();
        groups.values().stream().skip(spec.keyed() ? from : 0).limit(size).forEach(group -> {
            String name = group.get(0).name;
            int known = spec.keyed() ? count(group) : group.get(0).count;
            long hash = counted && name != null ? ShardKeys.hash(new BytesRef(name)) : 0;
            int count = counted && name != null
                    ? keys.stream().mapToInt(each -> each.count(hash)).sum()
                    : known;
            boolean whole = name == null || !spec.keyed() || counted && known == count;
            List<H> hits = group.stream().map(Ranked::hit).toList();
            page.add(new FoundGroups.Found<>(name, count, hits, whole));
        });
        float highest = Float.NaN;
        for (ShardGroups each : shards) {
            highest = Float.isNaN(highest) || each.highest > highest ? each.highest : highest;
        }
        long matches = shards.stream().mapToLong(each -> each.matches).sum();
        return new FoundGroups<>(matches, all, counted || !spec.keyed(), highest, page);
    }

    /** Adds up how many documents of a group its shards have. */
    private static <H> int count(List<Ranked<H>> group) {
        return group.stream()
                .collect(Collectors.toMap(Ranked::shard, Ranked::count, (first, same) -> first))
                .values()
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
    }
}
