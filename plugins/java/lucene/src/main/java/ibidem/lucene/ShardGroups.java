package ibidem.lucene;

import ibidem.core.FoundGroups;
import ibidem.core.SharedMatches;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.util.BytesRef;

/**
 * Groups as a shard found them.
 *
 * @param matches how many documents match
 * @param groups how many groups these are
 * @param sizes how many documents each group has, by a hash of its name; documents without a group are not among them;
 *     null if no other shard has documents of these groups, or if they are too many
 * @param highest the highest score; not a number without scores
 * @param names the names of the best groups in order; null for a document without a group
 * @param counts how many documents of each match
 * @param shown how many of these are among the documents
 * @param documents the best documents of each of these groups, group by group
 */
public record ShardGroups(
        long matches,
        long groups,
        Map<Long, Integer> sizes,
        float highest,
        String[] names,
        int[] counts,
        int[] shown,
        ScoreDoc[] documents) {
    /**
     * Returns the groups of a shard.
     *
     * @param found what its pass found
     * @param keys the counts of all groups; null where no other shard has some of them
     * @param field what the documents of a group share
     * @param from how many of the groups are left out at the beginning
     * @param members how many documents of a group are shown at most
     */
    public static ShardGroups of(
            GroupPass.Result found, KeyCounts keys, List<LeafReaderContext> leaves, String field, int from, int members)
            throws IOException {
        List<SharedMatches.Group> page =
                found.groups().page().stream().skip(from).toList();
        String[] names = new String[page.size()];
        int[] counts = new int[page.size()];
        int[] shown = new int[page.size()];
        List<ScoreDoc> documents = new ArrayList<>();
        for (int at = 0; at < names.length; at++) {
            List<Integer> entries = page.get(at).members();
            names[at] = name(found.hits()[entries.get(0)].doc, leaves, field);
            counts[at] = entries.size();
            shown[at] = Math.min(members, entries.size());
            entries.subList(0, shown[at]).forEach(entry -> documents.add(found.hits()[entry]));
        }
        Map<Long, Integer> sizes = keys == null ? null : keys.byHash();
        ScoreDoc[] all = documents.toArray(ScoreDoc[]::new);
        return new ShardGroups(found.matched(), found.all(), sizes, found.highest(), names, counts, shown, all);
    }

    private static String name(int document, List<LeafReaderContext> leaves, String field) throws IOException {
        LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(document, leaves));
        SortedSetDocValues values = DocValues.getSortedSet(leaf.reader(), field);
        boolean has = values.advanceExact(document - leaf.docBase);
        return has ? values.lookupOrd(values.nextOrd()).utf8ToString() : null;
    }

    /**
     * A shard's groups with the hits of their documents.
     *
     * @param groups its groups
     * @param hits those of its documents
     * @param <H> the engine's hits
     */
    public record Shard<H>(ShardGroups groups, H[] hits) {}

    /** A part of a group: that in one shard. */
    private record Part<H>(Shard<H> shard, int group, TopDocs documents) {}

    /**
     * Merges what shards found.
     *
     * @param shards what each found
     * @param sort the order of documents; null for that of the scores
     * @param from how many groups are left out at the beginning, if there are several shards
     * @param size how many groups follow
     */
    public static <H> FoundGroups<H> merge(List<Shard<H>> shards, SortField[] sort, int from, int size) {
        boolean isOne = shards.size() == 1;
        Map<ScoreDoc, Part<H>> parts = new HashMap<>();
        Map<ScoreDoc, H> hits = new HashMap<>();
        List<TopDocs> leads = new ArrayList<>();
        for (Shard<H> shard : shards) {
            List<ScoreDoc> first = new ArrayList<>();
            int at = 0;
            for (int group = 0; group < shard.groups.names.length; group++) {
                List<ScoreDoc> own = new ArrayList<>();
                for (int end = at + shard.groups.shown[group]; at < end; at++) {
                    shard.groups.documents[at].shardIndex = leads.size();
                    own.add(shard.groups.documents[at]);
                    hits.put(shard.groups.documents[at], shard.hits[at]);
                }
                parts.put(own.get(0), new Part<>(shard, group, topDocs(own, sort)));
                first.add(own.get(0));
            }
            leads.add(topDocs(first, sort));
        }
        Map<Object, List<Part<H>>> groups = new LinkedHashMap<>();
        for (ScoreDoc each : merge(leads, sort).scoreDocs) {
            Part<H> part = parts.get(each);
            String name = part.shard.groups.names[part.group];
            groups.computeIfAbsent(name == null ? each : name, key -> new ArrayList<>())
                    .add(part);
        }
        Map<Long, Integer> sizes = isOne ? null : union(shards);
        List<FoundGroups.Found<H>> page = new ArrayList<>();
        for (List<Part<H>> group :
                groups.values().stream().skip(isOne ? 0 : from).limit(size).toList()) {
            TopDocs documents = merge(group.stream().map(Part::documents).toList(), sort);
            String name = group.get(0).shard.groups.names[group.get(0).group];
            int count = sizes == null || name == null
                    ? group.stream()
                            .mapToInt(each -> each.shard.groups.counts[each.group])
                            .sum()
                    : sizes.get(KeyCounts.hash(new BytesRef(name)));
            List<H> shown = Stream.of(documents.scoreDocs).map(hits::get).toList();
            page.add(new FoundGroups.Found<>(name, count, shown));
        }
        long sum = shards.stream().mapToLong(each -> each.groups.groups).sum();
        if (sizes != null) {
            sum += sizes.size()
                    - shards.stream()
                            .mapToLong(each -> each.groups.sizes.size())
                            .sum();
        }
        float highest = Float.NaN;
        for (Shard<H> each : shards) {
            highest = Float.isNaN(highest) || each.groups.highest > highest ? each.groups.highest : highest;
        }
        long matches = shards.stream().mapToLong(each -> each.groups.matches).sum();
        return new FoundGroups<>(matches, sum, isOne || sizes != null, highest, page);
    }

    private static TopDocs topDocs(List<ScoreDoc> documents, SortField[] sort) {
        TotalHits total = new TotalHits(documents.size(), TotalHits.Relation.EQUAL_TO);
        ScoreDoc[] all = documents.toArray(ScoreDoc[]::new);
        return sort == null ? new TopDocs(total, all) : new TopFieldDocs(total, all, sort);
    }

    private static TopDocs merge(List<TopDocs> parts, SortField[] sort) {
        int size = parts.stream().mapToInt(each -> each.scoreDocs.length).sum();
        return sort == null
                ? TopDocs.merge(size, parts.toArray(TopDocs[]::new))
                : TopDocs.merge(new Sort(sort), size, parts.toArray(TopFieldDocs[]::new));
    }

    /** Returns how many documents each group has in all shards; null where one of them has too many groups. */
    private static <H> Map<Long, Integer> union(List<Shard<H>> shards) {
        Map<Long, Integer> union = new HashMap<>();
        for (Shard<H> each : shards) {
            if (each.groups.sizes == null) {
                return null;
            }
            each.groups.sizes.forEach((name, count) -> union.merge(name, count, Integer::sum));
        }
        return union;
    }
}
