package ibidem.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One search whose groups are stored: its shards group all matches, and the page is marked here.
 *
 * @param <R> the engine's responses
 * @param <H> their hits
 * @param <P> a hit's place in the ranking
 */
public final class StoredSearch<R, H, P> {
    /** Documents of a group that a page reads. */
    private static final int MOST_MEMBERS = 1_000;

    private final GroupedSearch.Node node;
    private final InnerSearches<R, H, P> searches;
    private final ResponseReader<R, H, P> responses;
    private final Request request;
    private final long startNanos = System.nanoTime();

    public StoredSearch(
            GroupedSearch.Node node,
            InnerSearches<R, H, P> searches,
            ResponseReader<R, H, P> responses,
            Request request) {
        this.node = node;
        this.searches = searches;
        this.responses = responses;
        this.request = request;
    }

    /** Returns how many documents of a group are read: those that are shown, or all where the lead is chosen. */
    public int members() {
        boolean all = request.most() == null || !request.keep().equals(Keep.RANK);
        return all ? MOST_MEMBERS : Math.min(MOST_MEMBERS, 1 + request.most());
    }

    /** Goes on with what the shards found: reads the manual decisions, then the documents that shards keep back. */
    public void goOn(FoundGroups<H> found) {
        Set<String> names = new TreeSet<>(searches.indexes());
        if (names.isEmpty()) {
            found.page().forEach(group -> group.hits().forEach(hit -> names.add(responses.index(hit))));
        }
        Set<String> ledgers = searches.ledgers(names);
        node.ledgers().overrides().get(ledgers, searches.caller(), searches::records, words -> complete(found, words));
    }

    private void complete(FoundGroups<H> found, List<Verdict> words) {
        Set<String> lacking = found.page().stream()
                .filter(each -> (each.whole() ? each.hits().size() : 1) < Math.min(each.size(), members()))
                .map(FoundGroups.Found::name)
                .collect(Collectors.toSet());
        if (lacking.isEmpty()) {
            answer(found, words);
            return;
        }
        searches.members(lacking, more -> {
            Map<String, FoundGroups.Found<H>> whole =
                    more.page().stream().collect(Collectors.toMap(FoundGroups.Found::name, Function.identity()));
            List<FoundGroups.Found<H>> groups = found.page().stream()
                    .map(each -> whole.getOrDefault(each.name(), each))
                    .toList();
            answer(found.with(groups), words);
        });
    }

    private void answer(FoundGroups<H> found, List<Verdict> words) {
        searches.checkNotCancelled();
        List<H> hits = new ArrayList<>();
        Map<Integer, String> names = new HashMap<>();
        Map<Integer, Integer> sizes = new HashMap<>();
        List<Integer> leads = new ArrayList<>();
        Rows.Builder builder = new Rows.Builder();
        for (FoundGroups.Found<H> group : found.page()) {
            int first = hits.size();
            names.put(first, request.policy().near() ? group.name() : null);
            sizes.put(first, Math.max(group.size(), group.hits().size()));
            for (H hit : group.hits()) {
                leads.add(first);
                hits.add(hit);
                builder.add(responses.index(hit), responses.windowId(hit), 0, responses.value(hit, PackedField.NAME));
            }
        }
        Rows rows = builder.rows(hits.size(), false);
        int[] lead = leads.stream().mapToInt(Integer::intValue).toArray();
        Window window = Window.known(rows, request.policy(), words, lead, names);
        Page page = new Page(window, request, Group.arrange(window, request, sizes));
        long tookMillis = (System.nanoTime() - startNanos) / 1_000_000;
        List<Item<H, P>> items = new ArrayList<>();
        for (Group group : page.groups()) {
            items.add(item(page, group, group.lead(), hits));
            group.followers().forEach(row -> items.add(item(page, group, row, hits)));
        }
        Map<String, Object> account = page.account(found, rows.missing(), tookMillis);
        searches.answer(new ResultList<>(items, found.highest(), request.collapse(), account, tookMillis));
    }

    private Item<H, P> item(Page page, Group group, int row, List<H> hits) {
        H hit = hits.get(row);
        return new Item<>(responses.windowId(hit), responses.place(hit), hit, page.mark(group, row, true));
    }
}
