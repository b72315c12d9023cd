package ibidem.opensearch;

import ibidem.core.InnerSearches;
import ibidem.core.Request;
import ibidem.core.UsageException;
import ibidem.core.Way;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.search.pipeline.AbstractProcessor;
import org.opensearch.search.pipeline.PipelineProcessingContext;
import org.opensearch.search.pipeline.SearchRequestProcessor;
import org.opensearch.search.pipeline.SearchResponseProcessor;
import org.opensearch.tasks.Task;

/** The same as a pair of processors, so that a search pipeline groups every search that goes through it. */
final class Processors {
    private static final String SEARCHES = "ibidem.grouped";

    private Processors() {}

    /** Turns a search into one for its window. */
    static final class WindowProcessor extends AbstractProcessor implements SearchRequestProcessor {
        private final Map<String, Object> config;
        private final Supplier<Nodes> nodes;

        /** Reads the options of a pipeline's configuration, and refuses invalid ones. */
        WindowProcessor(
                String tag,
                String description,
                boolean ignoreFailure,
                Map<String, Object> config,
                Supplier<Nodes> nodes) {
            super(tag, description, ignoreFailure);
            this.config = new HashMap<>(config);
            this.nodes = nodes;
            config.clear();
            Request.of(this.config, Map.of());
        }

        @Override
        public String getType() {
            return DedupeExt.NAME;
        }

        @Override
        public SearchRequest processRequest(SearchRequest request) {
            return request;
        }

        @Override
        public void processRequestAsync(
                SearchRequest request, PipelineProcessingContext context, ActionListener<SearchRequest> listener) {
            if (request.source() == null || WindowExt.marks(request)) {
                listener.onResponse(request);
                return;
            }
            Map<String, Object> options = Objects.requireNonNullElse(DedupeExt.of(request), Map.of());
            boolean asksItself = !options.isEmpty();
            try {
                Request dedupe = Request.of(config, options);
                if (dedupe == null || request.source().size() == 0 && !asksItself) {
                    listener.onResponse(request);
                    return;
                }
                Task task = nodes.get().threads().getThreadContext().getTransient(Engine.TASK);
                Rankings.Deep deep = new Rankings(nodes.get()).deepen(request, dedupe.window());
                ActionListener<Way> next = ActionListener.wrap(
                        way -> {
                            Searches searches = new PipelineSearches(nodes.get(), deep, way, task, asksItself);
                            SearchRequest first = searches.firstWindow();
                            context.setAttribute(SEARCHES, searches);
                            listener.onResponse(first);
                        },
                        error -> refuse(error, request, asksItself, listener));
                new Ways(nodes.get(), deep, task, next).choose(dedupe);
            } catch (UsageException cannotBeGrouped) {
                refuse(cannotBeGrouped, request, asksItself, listener);
            }
        }

        /** Leaves a search plain that cannot be grouped, unless it asks for groups itself. */
        private static void refuse(
                Exception error, SearchRequest request, boolean asksItself, ActionListener<SearchRequest> listener) {
            if (asksItself || !(error instanceof UsageException)) {
                listener.onFailure(error);
            } else {
                listener.onResponse(request);
            }
        }
    }

    /** The searches that one is made of which a search pipeline groups: the later ones go past the pipeline. */
    private static final class PipelineSearches extends Searches {
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
        public void window(InnerSearches.Depth depth, Consumer<SearchResponse> next) {
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

    /** Answers with the groups of a window. */
    static final class GroupProcessor extends AbstractProcessor implements SearchResponseProcessor {
        GroupProcessor(String tag, String description, boolean ignoreFailure) {
            super(tag, description, ignoreFailure);
        }

        @Override
        public String getType() {
            return DedupeExt.NAME;
        }

        @Override
        public SearchResponse processResponse(SearchRequest request, SearchResponse response) {
            return response;
        }

        @Override
        public void processResponseAsync(
                SearchRequest request,
                SearchResponse response,
                PipelineProcessingContext context,
                ActionListener<SearchResponse> listener) {
            if (context.getAttribute(SEARCHES) instanceof Searches searches) {
                searches.goOn(listener, response);
            } else {
                listener.onResponse(response);
            }
        }
    }
}
