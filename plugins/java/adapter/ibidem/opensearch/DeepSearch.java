package ibidem.opensearch;

import java.util.List;
import java.util.Map;
import org.opensearch.action.search.SearchRequest;

/**
 * A search that ranks as many hits as are grouped.
 *
 * @param request the search
 * @param raised what was raised in it, as the account shows it
 * @param ranked the most hits that it ranks
 */
record DeepSearch(SearchRequest request, List<Map<String, Object>> raised, int ranked) {}
