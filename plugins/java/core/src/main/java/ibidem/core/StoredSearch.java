package ibidem.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One search whose groups are stored: its shards group all matches, and the page is marked here. */
public final class StoredSearch<H, P> {
    private static final int MOST_MEMBERS = 1_000; // documents of a group that a page reads
    private final InnerSearches<?, H, P> searches;
    private final Request request;
    private final long startNanos = System.nanoTime();

    public StoredSearch(InnerSearches<?, H, P> searches, Request request) {
        this.searches = searches;
        this.request = request;
    }

    /** Returns how many documents of a group are read: those that are shown, or all where the lead is chosen. */
    public int members() {
        boolean all = request.most() == null || !request.keep().equals(Keep.RANK);
        return all ? MOST_MEMBERS : Math.min(MOST_MEMBERS, 1 + request.most());
    }

    /** Goes on with what the shards found: reads the manual decisions, then the documents that shards keep back. */
    public void goOn(FoundGroups<H> found) {
        searches.overrides(
                found.page().stream().flatMap(group -> group.hits().stream()).map(searches::index),
                words -> complete(found, words));
    }

    private void complete(FoundGroups<H> found, List<Verdict> words) {
        Set<String> lacking = found.page().stream()
                .filter(each -> (each.whole() ? each.hits().size() : 1) < Math.min(each.size(), members()))
                .map(FoundGroups.Found::name)
                .collect(Collectors.toSet());
        if (lacking.isEmpty()) {
            answer(found, found.page(), words);
            return;
        }
        searches.members(lacking, more -> {
            Map<String, FoundGroups.Found<H>> whole =
                    more.page().stream().collect(Collectors.toMap(FoundGroups.Found::name, Function.identity()));
            List<FoundGroups.Found<H>> groups = found.page().stream()
                    .map(each -> whole.getOrDefault(each.name(), each))
                    .toList();
            answer(found, groups, words);
        });
    }

    private void answer(FoundGroups<H> found, List<FoundGroups.Found<H>> groups, List<Verdict> words) {
        searches.checkNotCancelled();
        List<H> hits = new ArrayList<>();
        Map<Integer, String> names = new HashMap<>();
        Map<Integer, Integer> sizes = new HashMap<>();
        IntStream.Builder leads = IntStream.builder();
        for (FoundGroups.Found<H> group : groups) {
            int first = hits.size();
            names.put(first, request.policy().near() ? group.name() : null);
            sizes.put(first, Math.max(group.size(), group.hits().size()));
            group.hits().forEach(hit -> leads.add(first));
            hits.addAll(group.hits());
        }
        Rows<P> rows = new Rows<>(searches, hits, hits.size(), false);
        Window window =
                Window.known(rows, request.policy(), words, leads.build().toArray(), names);
        Page page = new Page(window, request, Group.arrange(window, request, sizes), List.of(), 0);
        long tookMillis = (System.nanoTime() - startNanos) / 1_000_000;
        Map<String, Object> account = page.account(found, !rows.lacking().isEmpty(), tookMillis);
        List<ResultList.Item<H, P>> items = rows.items(page, hits::get);
        searches.answer(new ResultList<>(items, found.highest(), request.collapse(), account, tookMillis));
    }
}
