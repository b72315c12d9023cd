package ibidem.opensearch;

import ibidem.core.ResponseReader;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.common.document.DocumentField;
import org.opensearch.search.SearchHit;

/** Reads the engine's responses. */
final class Responses implements ResponseReader<SearchResponse, SearchHit, Place> {
    @Override
    public SearchHit[] hits(SearchResponse response) {
        return response.getHits().getHits();
    }

    @Override
    public long total(SearchResponse response) {
        return response.getHits().getTotalHits().value();
    }

    @Override
    public float highest(SearchResponse response) {
        return response.getHits().getMaxScore();
    }

    @Override
    public boolean isTimedOut(SearchResponse response) {
        return response.isTimedOut();
    }

    @Override
    public String index(SearchHit hit) {
        return hit.getIndex();
    }

    @Override
    public String id(SearchHit hit) {
        return hit.getId();
    }

    @Override
    public float score(SearchHit hit) {
        return hit.getScore();
    }

    @Override
    public Object value(SearchHit hit, String field) {
        DocumentField values = hit.field(field);
        return values == null ? null : values.getValue();
    }

    @Override
    public Place place(SearchHit hit) {
        return Place.of(hit);
    }
}
