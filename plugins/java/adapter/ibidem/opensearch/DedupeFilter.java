package ibidem.opensearch;

import ibidem.core.Request;
import ibidem.core.Way;
import java.util.Map;
import java.util.function.Supplier;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.action.support.ActionFilterChain;
import org.opensearch.action.support.ActionRequestMetadata;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.tasks.Task;

/** Groups the hits of a search whose {@code ext.ibidem} asks for it; every other passes untouched. */
final class DedupeFilter implements ActionFilter {
    private static final String SEARCH = "indices:data/read/search";
    private static final int AFTER_THOSE_THAT_CHECK_RIGHTS = 1_000;

    private final Supplier<Nodes> nodes;

    DedupeFilter(Supplier<Nodes> nodes) {
        this.nodes = nodes;
    }

    @Override
    public int order() {
        return AFTER_THOSE_THAT_CHECK_RIGHTS;
    }

    @Override
    public <Q extends ActionRequest, R extends ActionResponse> void apply(
            Task task,
            String action,
            Q request,
            ActionRequestMetadata<Q, R> metadata,
            ActionListener<R> listener,
            ActionFilterChain<Q, R> chain) {
        if (!SEARCH.equals(action)
                || !(request instanceof SearchRequest search)
                || search.source() == null
                || WindowExt.marks(search)) {
            chain.proceed(task, action, request, listener);
            return;
        }
        ThreadContext context = nodes.get().threads().getThreadContext();
        try (ThreadContext.StoredContext ignored = Engine.withTask(context, task)) {
            search(task, action, search, listener, chain);
        } catch (Exception e) {
            listener.onFailure(e);
        }
    }

    @SuppressWarnings("unchecked") // a search is answered with a search's response
    private <Q extends ActionRequest, R extends ActionResponse> void search(
            Task task, String action, SearchRequest search, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
        Map<String, Object> options = DedupeExt.of(search);
        Request dedupe =
                options == null || Engine.isLeftToPipeline(search, nodes.get()) ? null : Request.of(Map.of(), options);
        if (dedupe == null) {
            chain.proceed(task, action, (Q) search, listener);
            return;
        }
        Rankings.Deep deep = new Rankings(nodes.get()).deepen(search, dedupe.window());
        ActionListener<SearchResponse> searchListener = (ActionListener<SearchResponse>) listener;
        ActionListener<Way> next = ActionListener.wrap(
                way -> {
                    Searches searches = new Searches(nodes.get(), deep, way, task);
                    ActionListener<SearchResponse> first = ActionListener.wrap(
                            response -> searches.goOn(searchListener, response), listener::onFailure);
                    chain.proceed(
                            task, action, (Q) searches.firstWindow(), (ActionListener<R>) (ActionListener<?>) first);
                },
                listener::onFailure);
        new Ways(nodes.get(), deep, task, next).choose(dedupe);
    }
}
