package ibidem.opensearch;

import ibidem.core.PackedField;
import ibidem.lucene.ShardGroups;
import ibidem.lucene.StoredValues;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.BytesRef;
import org.opensearch.common.document.DocumentField;
import org.opensearch.index.mapper.Uid;
import org.opensearch.search.SearchHit;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;

/**
 * Puts the packed value on each hit as bytes. A hit of a window, which has no id of its own, gets the id instead where
 * that value is not the document's.
 */
final class PackedFetch implements FetchSubPhase {
    @Override
    public FetchSubPhaseProcessor getProcessor(FetchContext context) {
        return context.getSearchExt(WindowExt.NAME) instanceof WindowExt ext ? new Reader(ext) : null;
    }

    /** Reads and writes ids as the engine stores them. */
    private static final class Ids implements StoredValues.IdCode {
        @Override
        public String decode(byte[] bytes, int offset, int length) {
            return Uid.decodeId(bytes, offset, length);
        }

        @Override
        public BytesRef encode(String id) {
            return Uid.encodeId(id);
        }
    }

    private static final class Reader implements Engine.FieldReader {
        private final WindowExt ext;
        private final Map<Integer, Integer> places = new HashMap<>(); // where each document of a page is in it
        private StoredValues values;

        Reader(WindowExt ext) {
            this.ext = ext;
            ShardGroups found = ext.found();
            for (int at = 0; found != null && at < found.documents().length; at++) {
                places.put(found.documents()[at].doc, at);
            }
        }

        @Override
        public void setNextReader(LeafReaderContext reader) throws IOException {
            values = new StoredValues(reader.reader(), new Ids());
        }

        @Override
        public void process(HitContext hit) throws IOException {
            if (ext.spec() == null) {
                StoredValues.Values read = values.read(hit.docId());
                put(hit.hit(), PackedField.ID, read.id());
                put(hit.hit(), PackedField.NAME, read.packed());
                return;
            }
            put(hit.hit(), PackedField.NAME, values.packed(hit.docId()));
            Integer place = places.get(hit.hit().docId());
            if (place != null) {
                Engine.setField(
                        hit.hit(),
                        new DocumentField(PackedField.GROUPS, ext.found().carried(place)));
            }
        }

        private static void put(SearchHit hit, String name, Object value) {
            if (value != null) {
                Engine.setField(hit, new DocumentField(name, List.of(value)));
            }
        }
    }
}
