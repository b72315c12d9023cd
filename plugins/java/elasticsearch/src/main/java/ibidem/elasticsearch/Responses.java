package ibidem.elasticsearch;

import ibidem.core.ResponseReader;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.search.SearchHit;

/** Reads Elasticsearch's responses, whose hits are released after they are read. */
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
