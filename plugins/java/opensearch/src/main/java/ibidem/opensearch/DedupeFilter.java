package ibidem.opensearch;

import ibidem.core.Ledgers;
import ibidem.core.Request;
import ibidem.core.Way;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.search.SearchAction;
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
    /** Under this name a search pipeline finds the task that it runs under. */
    static final String TASK = "ibidem_task";

    private static final int AFTER_THOSE_THAT_CHECK_RIGHTS = 1_000;

    private final Supplier<Nodes> nodes;
    private final Ledgers ledgers;

    DedupeFilter(Supplier<Nodes> nodes, Ledgers ledgers) {
        this.nodes = nodes;
        this.ledgers = ledgers;
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
        if (!SearchAction.NAME.equals(action)
                || !(request instanceof SearchRequest search)
                || search.source() == null
                || WindowExt.marks(search)) {
            chain.proceed(task, action, request, listener);
            return;
        }
        ThreadContext context = nodes.get().threads().getThreadContext();
        try (ThreadContext.StoredContext ignored = context.newStoredContext(true, List.of(TASK))) {
            context.putTransient(TASK, task);
            search(task, action, search, listener, chain);
        } catch (Exception e) {
            listener.onFailure(e);
        }
    }

    @SuppressWarnings("unchecked") // a search is answered with a search's response
    private <Q extends ActionRequest, R extends ActionResponse> void search(
            Task task, String action, SearchRequest search, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
        Map<String, Object> options = DedupeExt.of(search);
        Request dedupe = options == null || Pipelines.group(search, nodes.get()) ? null : Request.of(Map.of(), options);
        if (dedupe == null) {
            chain.proceed(task, action, (Q) search, listener);
            return;
        }
        DeepSearch deep = new Rankings(nodes.get()).deepen(search, dedupe.window());
        ActionListener<SearchResponse> searchListener = (ActionListener<SearchResponse>) listener;
        ActionListener<Way> next = ActionListener.wrap(
                way -> {
                    Searches searches = new Searches(nodes.get(), ledgers, deep, way, task);
                    ActionListener<SearchResponse> first = ActionListener.wrap(
                            response -> searches.goOn(searchListener, response), listener::onFailure);
                    chain.proceed(
                            task, action, (Q) searches.firstWindow(), (ActionListener<R>) (ActionListener<?>) first);
                },
                listener::onFailure);
        new Ways(nodes.get(), ledgers, deep, task, next).choose(dedupe);
    }
}
