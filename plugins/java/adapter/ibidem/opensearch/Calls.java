package ibidem.opensearch;

import ibidem.core.LedgerCache;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.opensearch.ExceptionsHelper;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.action.support.ContextPreservingActionListener;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.core.tasks.TaskCancelledException;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.search.SearchHit;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.Task;

/** Sends requests as the caller and under the caller's task, so that rights hold and cancelling reaches them. */
class Calls {
    final Nodes nodes;
    private final Task task; // null where none is known
    private final Supplier<ThreadContext.StoredContext> context;

    Calls(Nodes nodes, Task task) {
        this.nodes = nodes;
        this.task = task;
        context = nodes.threads().getThreadContext().newRestorableContext(true);
    }

    /** Throws the engine's exception where the caller's task is cancelled. */
    public final void checkNotCancelled() {
        if (task instanceof CancellableTask cancellable && cancellable.isCancelled()) {
            throw new TaskCancelledException("cancelled: " + cancellable.getReasonCancelled());
        }
    }

    /** Returns the caller's task; the one of no request where none is known. */
    final TaskId parent() {
        return task == null
                ? TaskId.EMPTY_TASK_ID
                : new TaskId(nodes.cluster().localNode().getId(), task.getId());
    }

    final void send(SearchRequest search, ActionListener<SearchResponse> next) {
        checkNotCancelled();
        search.setParentTask(parent());
        nodes.client().search(search, next);
    }

    final <T> ActionListener<T> inContext(ActionListener<T> next) {
        return new ContextPreservingActionListener<>(context, next);
    }

    /** Reads records next to indexes; empty if they are missing or the caller may not read them. */
    final void records(LedgerCache.Slice slice, Consumer<LedgerCache.Batch> next, Consumer<Exception> failure) {
        LedgerCache.Batch none = new LedgerCache.Batch(List.of(), null);
        ActionListener<SearchResponse> listener =
                ActionListener.wrap(answer -> next.accept(batch(answer)), failure::accept);
        send(InnerRequests.ledger(slice), inContext(orElse(listener, () -> next.accept(none))));
    }

    /** Does something else where an index is missing or the caller may not read it. */
    static <T> ActionListener<T> orElse(ActionListener<T> listener, Runnable hidden) {
        return ActionListener.wrap(listener::onResponse, error -> {
            RestStatus status = ExceptionsHelper.status(error);
            if (status == RestStatus.FORBIDDEN || status == RestStatus.NOT_FOUND) {
                hidden.run();
            } else {
                listener.onFailure(error);
            }
        });
    }

    private static LedgerCache.Batch batch(SearchResponse answer) {
        SearchHit[] hits = answer.getHits().getHits();
        Object[] last = hits.length == 0 ? null : hits[hits.length - 1].getSortValues();
        return new LedgerCache.Batch(
                Arrays.stream(hits).map(SearchHit::getSourceAsMap).toList(), last);
    }
}
