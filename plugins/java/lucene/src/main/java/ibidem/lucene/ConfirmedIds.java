package ibidem.lucene;

import ibidem.core.PackedField;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;

/**
 * The documents whose packed value was found to name them: a bit for each, kept as long as its segment.
 *
 * <p>A segment never changes the ids and values that it was written with, so none is looked up twice.
 */
public final class ConfirmedIds {
    private final Map<IndexReader.CacheKey, AtomicLongArray> segments = new ConcurrentHashMap<>();

    /** Returns the documents of a segment that are known so far; null where what is found could not be kept. */
    Segment of(LeafReader reader) {
        IndexReader.CacheHelper helper = reader.getCoreCacheHelper();
        FieldInfo field = reader.getFieldInfos().fieldInfo(PackedField.NAME);
        if (helper == null || field == null || field.getDocValuesGen() != -1) {
            return null;
        }
        return new Segment(segments.computeIfAbsent(helper.getKey(), key -> {
            helper.addClosedListener(segments::remove);
            return new AtomicLongArray((reader.maxDoc() + Long.SIZE - 1) / Long.SIZE);
        }));
    }

    /** Returns how many segments are known. */
    int size() {
        return segments.size();
    }

    /** The known documents of a segment; several searches add to them at a time. */
    record Segment(AtomicLongArray bits) {
        boolean holds(int document) {
            return (bits.getOpaque(document >>> 6) >>> document & 1L) != 0;
        }

        void add(int document) {
            bits.getAndAccumulate(document >>> 6, 1L << document, (before, bit) -> before | bit);
        }
    }
}
