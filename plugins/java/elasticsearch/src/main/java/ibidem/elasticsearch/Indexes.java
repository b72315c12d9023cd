package ibidem.elasticsearch;

import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;

/** The indexes of a request's project. */
record Indexes(ClusterService cluster, IndexNameExpressionResolver resolver, ProjectResolver projects) {
    /** Returns the metadata of all indexes as it is now. */
    ProjectMetadata current() {
        return projects.getProjectMetadata(cluster.state());
    }

    /** Returns the indexes that a search names. */
    String[] named(SearchRequest request) {
        return resolver.concreteIndexNames(current(), request.indicesOptions(), true, request.indices());
    }
}
