package ibidem.lucene;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.lucene.search.Explanation;

/** Explanations of hits that were asked for by their ids. */
public final class Explanations {
    /** How Lucene explains a filter. */
    private static final String REQUIRED = "match on required clause";
    /** How it explains the filter on ids. */
    private static final String IDS = "_id:";

    private Explanations() {}

    /** Takes what was put around the query out of a hit's explanation: the ids, and what keeps nested documents out. */
    public static Explanation asMatched(Explanation explained) {
        Explanation told = explained;
        while (told != null && told.getDescription().equals("sum of:")) {
            Map<Boolean, List<Explanation>> parts = Arrays.stream(told.getDetails())
                    .collect(Collectors.partitioningBy(
                            part -> part.getDescription().startsWith(REQUIRED)));
            if (parts.get(false).size() != 1 || parts.get(true).isEmpty()) {
                break;
            }
            told = parts.get(false).get(0);
            if (parts.get(true).stream()
                    .flatMap(part -> Arrays.stream(part.getDetails()))
                    .anyMatch(part -> part.getDescription().contains(IDS))) {
                break;
            }
        }
        return told;
    }
}
