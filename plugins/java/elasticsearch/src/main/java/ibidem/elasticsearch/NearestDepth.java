package ibidem.elasticsearch;

import ibidem.core.RankingDepth;
import ibidem.core.Request;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.retriever.KnnRetrieverBuilder;
import org.elasticsearch.search.retriever.RetrieverBuilder;
import org.elasticsearch.search.retriever.StandardRetrieverBuilder;
import org.elasticsearch.search.vectors.KnnSearchBuilder;

/**
 * Makes what ranks beside the query as deep as the window that is grouped.
 *
 * <p>A retriever ranks as many hits as it names itself, and so does a search for neighbours. One that ranks alone is read
 * as the parts of a search that the engine makes of it.
 */
record NearestDepth(RankingDepth depth, Json json) {
    private static final int SIZE = 10;
    private static final float CANDIDATES = 1.5f;
    private static final String NUM_CANDIDATES = "num_candidates";
    private static final String MIN_SCORE = "min_score";
    private static final String RETRIEVER = "retriever";
    private static final String KNN = "knn";

    /** Puts a retriever into a search, deep enough, and returns the most hits that it ranks. */
    int deepenRetriever(RetrieverBuilder retriever, SearchSourceBuilder source) {
        Map<String, Object> outer = json.map(retriever);
        source.query(null);
        if (retriever instanceof StandardRetrieverBuilder || retriever instanceof KnnRetrieverBuilder) {
            rankAlone(retriever.getName(), outer, source);
            return Request.DEEPEST;
        }
        Map<String, Object> deep = depth.retriever(outer, RETRIEVER);
        source.retriever(json.retriever(deep));
        return RankingDepth.rankedHits(deep);
    }

    /** Puts a retriever that ranks alone into a search, as parts of it. */
    @SuppressWarnings("unchecked") // a retriever is an object with one member, which is an object
    private void rankAlone(String kind, Map<String, Object> outer, SearchSourceBuilder source) {
        Map<String, Object> parts = (Map<String, Object>) outer.get(kind);
        if (parts.remove(MIN_SCORE) instanceof Number least) {
            source.minScore(least.floatValue());
        }
        if (kind.equals(KNN)) {
            source.knnSearch(List.of(nearest(depth.nearest(parts, KNN))));
        } else {
            json.retriever(outer).extractToSearchSourceBuilder(source, false);
        }
    }

    /** Makes the searches for neighbours deep enough. */
    void deepenNearest(SearchSourceBuilder source) {
        List<KnnSearchBuilder> nearest = source.knnSearch();
        source.knnSearch(IntStream.range(0, nearest.size())
                .mapToObj(at -> deepened(nearest.get(at), nearest.size() == 1 ? KNN : KNN + "[" + at + "]"))
                .toList());
    }

    private KnnSearchBuilder deepened(KnnSearchBuilder search, String path) {
        Map<String, Object> parts = json.map(search);
        if (search.getNumCands() == Math.round(Math.min(Request.DEEPEST, CANDIDATES * search.k()))) {
            parts.remove(NUM_CANDIDATES); // as many as the engine puts in where none are named
        }
        return nearest(depth.nearest(parts, path));
    }

    private KnnSearchBuilder nearest(Object parts) {
        return json.read(parts, parser -> KnnSearchBuilder.fromXContent(parser).build(SIZE));
    }
}
