package ibidem.opensearch;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opensearch.action.search.SearchRequest;

/**
 * A search that ranks as many hits as are grouped.
 *
 * @param request the search
 * @param adjusted what was adjusted in it, as the account shows it
 * @param ranked the most hits that it ranks
 * @param indexes the indexes that it searches; empty if there are none, or if only its hits name them
 * @param ledgers the indexes of records next to them
 * @param beside the indexes that hold their signatures
 */
record DeepSearch(
        SearchRequest request,
        List<Map<String, Object>> adjusted,
        int ranked,
        List<String> indexes,
        Set<String> ledgers,
        Set<String> beside) {}
