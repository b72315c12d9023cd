package ibidem.lucene;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.lucene.search.Explanation;

/** Explanations of hits that are searched by their ids. */
public final class Explanations {
    private static final String REQUIRED = "match on required clause"; // how Lucene explains a filter
    private static final String IDS = "_id:"; // how it explains the filter on ids

    private Explanations() {}

    /** Removes from a hit's explanation the clauses around the query: ids, and no nested documents. */
    public static Explanation asMatched(Explanation explanation) {
        Explanation inner = explanation;
        while (inner != null && inner.getDescription().equals("sum of:")) {
            Map<Boolean, List<Explanation>> parts = Arrays.stream(inner.getDetails())
                    .collect(Collectors.partitioningBy(
                            part -> part.getDescription().startsWith(REQUIRED)));
            if (parts.get(false).size() != 1 || parts.get(true).isEmpty()) {
                break;
            }
            inner = parts.get(false).get(0);
            if (parts.get(true).stream()
                    .flatMap(part -> Arrays.stream(part.getDetails()))
                    .anyMatch(part -> part.getDescription().contains(IDS))) {
                break;
            }
        }
        return inner;
    }
}
