package ibidem.opensearch;

import org.opensearch.action.search.SearchRequest;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.metadata.Metadata;
import org.opensearch.cluster.service.ClusterService;

/** The indexes of a cluster. */
record Indexes(ClusterService cluster, IndexNameExpressionResolver resolver) {
    /** Returns the metadata of all indexes as it is now. */
    Metadata current() {
        return cluster.state().metadata();
    }

    /** Returns the indexes that a search names. */
    String[] named(SearchRequest request) {
        return resolver.concreteIndexNames(cluster.state(), request.indicesOptions(), true, request.indices());
    }
}
