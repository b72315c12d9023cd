package ibidem.core;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An engine with one ranking of the golden files, and the records next to it. */
final class OneRanking implements InnerSearches<OneRanking.Response, OneRanking.Hit, Integer> {
    record Hit(int at, String index, String id, float score, Map<String, Object> fields) {}

    record Response(Hit[] hits, long total) {}

    final List<Depth> windows = new ArrayList<>();
    final List<String> requests = new ArrayList<>();
    private final JsonNode line;
    private final List<JsonNode> ranking;
    private final IntUnaryOperator scores;
    private final Predicate<String> exists;
    ResultList<Hit, Integer> list;
    boolean cancelled;
    boolean rescored;
    long memoryBytes;

    OneRanking(JsonNode line, IntUnaryOperator scores, Predicate<String> exists) {
        this.line = line;
        this.scores = scores;
        this.exists = exists;
        ranking = line.get("hits").valueStream().toList();
    }

    /** Searches, and returns the response; null if it is not yet known. */
    ResultList<Hit, Integer> search(Request request, int from, int size) {
        GroupedSearch<Response, Hit, Integer> search = new GroupedSearch<>(this, request, from, size);
        requests.add("window");
        windows.add(search.depth());
        search.goOn(window(search.depth()));
        return list;
    }

    String index(int at) {
        return ranking.get(at).get(0).asText();
    }

    private String id(int at) {
        return ranking.get(at).get(1).asText();
    }

    private String packed(int at) {
        JsonNode value = ranking.get(at).get(2);
        return value.isNull() ? null : value.asText();
    }

    private String claimedId(int at) {
        byte[] packed = PackedField.read(packed(at));
        return packed == null ? null : Packed.id(packed);
    }

    private Hit hit(int at, boolean hasIds, Map<String, Object> fields) {
        return new Hit(at, index(at), hasIds ? id(at) : null, scores.applyAsInt(at), fields);
    }

    private Response window(Depth depth) {
        int end = Math.min(depth.hits(), ranking.size());
        Hit[] hits = new Hit[end];
        for (int at = 0; at < end; at++) {
            Map<String, Object> fields = new HashMap<>();
            fields.put(PackedField.NAME, packed(at));
            fields.put(PackedField.ID, id(at).equals(claimedId(at)) ? null : id(at));
            hits[at] = hit(at, false, fields);
        }
        return new Response(hits, ranking.size());
    }

    @Override
    public void window(Depth depth, Consumer<Response> next) {
        checkNotCancelled();
        requests.add("window");
        windows.add(depth);
        next.accept(window(depth));
    }

    @Override
    public void documents(Set<Name> names, Consumer<Response> next) {
        requests.add("documents");
        List<Hit> hits = new ArrayList<>();
        for (int at = 0; at < ranking.size(); at++) {
            if (names.contains(new Name(index(at), id(at))) && exists.test(id(at))) {
                hits.add(hit(at, true, Map.of()));
            }
        }
        next.accept(new Response(hits.toArray(Hit[]::new), hits.size()));
    }

    @Override
    public void signatures(List<Name> names, Consumer<List<byte[]>> next) {
        next.accept(List.of());
    }

    @Override
    public void members(Set<String> groups, Consumer<FoundGroups<Hit>> next) {
        throw new UnsupportedOperationException("no groups are stored");
    }

    @Override
    public void overrides(Stream<String> indexesOfHits, Consumer<List<Verdict>> next) {
        List<Verdict> all = new ArrayList<>();
        line.path("overrides").forEach(each -> all.add(Verdict.of(Golden.map(each))));
        next.accept(all);
    }

    @Override
    public void compute(Response response, Runnable task) {
        task.run();
    }

    @Override
    public void checkNotCancelled() {
        if (cancelled) {
            throw new IllegalStateException("cancelled");
        }
    }

    @Override
    public void answer(ResultList<Hit, Integer> result) {
        list = result;
    }

    @Override
    public int deepest() {
        return Request.DEEPEST;
    }

    @Override
    public boolean byScoreAlone() {
        return !rescored;
    }

    @Override
    public boolean isRescored() {
        return rescored;
    }

    @Override
    public void take(long bytes) {
        memoryBytes += bytes;
    }

    @Override
    public void free(long bytes) {
        memoryBytes -= bytes;
    }

    @Override
    public Hit[] hits(Response response) {
        return response.hits();
    }

    @Override
    public long total(Response response) {
        return response.total();
    }

    @Override
    public float highest(Response response) {
        return response.hits().length == 0 ? Float.NaN : response.hits()[0].score();
    }

    @Override
    public boolean isTimedOut(Response response) {
        return false;
    }

    @Override
    public String index(Hit hit) {
        return hit.index();
    }

    @Override
    public String id(Hit hit) {
        return hit.id();
    }

    @Override
    public float score(Hit hit) {
        return hit.score();
    }

    @Override
    public Object value(Hit hit, String field) {
        return hit.fields().get(field);
    }

    @Override
    public Integer place(Hit hit) {
        return hit.at();
    }
}
