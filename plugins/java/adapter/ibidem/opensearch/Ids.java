package ibidem.opensearch;

import ibidem.lucene.StoredValues;
import org.apache.lucene.util.BytesRef;
import org.opensearch.index.mapper.Uid;

/** Reads and writes ids as the engine stores them. */
final class Ids implements StoredValues.IdCode {
    @Override
    public String decode(byte[] bytes, int offset, int length) {
        return Uid.decodeId(bytes, offset, length);
    }

    @Override
    public BytesRef encode(String id) {
        return Uid.encodeId(id);
    }
}
