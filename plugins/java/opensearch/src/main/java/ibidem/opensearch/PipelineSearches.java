package ibidem.opensearch;

import ibidem.core.UsageException;
import ibidem.core.Way;
import java.util.function.Consumer;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;

/** The searches that one is made of which a search pipeline groups: the later ones go past the pipeline. */
final class PipelineSearches extends Searches {
    private final SearchRequest request;
    private final boolean asked;

    PipelineSearches(Nodes nodes, Rankings.Deep deep, Way way, Task task, boolean asked) {
        super(nodes, deep, way, task);
        this.request = deep.request();
        this.asked = asked;
    }

    @Override
    void goOn(ActionListener<SearchResponse> next, SearchResponse response) {
        super.goOn(asked ? next : orPlainly(next), response);
    }

    @Override
    public void window(Depth depth, Consumer<SearchResponse> next) {
        if (Engine.ranksAsAWhole(request.source())) { // needs the rest of the pipeline, which has already run
            throw new UsageException(
                    "a hybrid query that needs a deeper window cannot be combined with dedupe in a search pipeline",
                    "ask for a larger window, or for dedupe in ext.ibidem");
        }
        super.window(depth, next);
    }

    @Override
    SearchRequest later(SearchRequest search) {
        return Engine.pastPipelines(search);
    }

    /** Answers plainly where a search turns out to be none that can be grouped. */
    private ActionListener<SearchResponse> orPlainly(ActionListener<SearchResponse> next) {
        return ActionListener.wrap(next::onResponse, error -> {
            if (error instanceof UsageException && !Engine.ranksAsAWhole(request.source())) {
                send(Engine.pastPipelines(new SearchRequest(request)), inContext(next));
            } else {
                next.onFailure(error);
            }
        });
    }
}
