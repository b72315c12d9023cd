package ibidem.elasticsearch;

import ibidem.lucene.ShardGroups;
import ibidem.lucene.ShardKeys;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.aggregations.AggregationReduceContext;
import org.elasticsearch.search.aggregations.AggregatorReducer;
import org.elasticsearch.search.aggregations.InternalAggregation;
import org.elasticsearch.xcontent.XContentBuilder;

/** The groups that shards found; those of several shards are merged where the page is made. */
final class InternalGroups extends InternalAggregation {
    /** What one shard found, and the documents of the page. */
    record Shard(ShardGroups groups, SearchHits hits) {
        /** Returns its documents in their order. */
        TopDocs ranked() {
            ScoreDoc[] documents = groups.documents();
            TotalHits total = new TotalHits(documents.length, TotalHits.Relation.EQUAL_TO);
            return hits.getSortFields() == null
                    ? new TopDocs(total, documents)
                    : new TopFieldDocs(total, documents, hits.getSortFields());
        }
    }

    private final List<Shard> shards;

    InternalGroups(List<Shard> shards, Map<String, Object> metadata) {
        super(GroupsBuilder.NAME, metadata);
        this.shards = shards;
    }

    InternalGroups(StreamInput in) throws IOException {
        super(in);
        shards = in.readCollectionAsList(InternalGroups::readShard);
    }

    private static Shard readShard(StreamInput in) throws IOException {
        long matches = in.readVLong();
        long groups = in.readVLong();
        ShardKeys keys = in.readBoolean() ? new ShardKeys(in.readLongArray(), in.readVIntArray()) : null;
        float highest = in.readFloat();
        String[] names = in.readArray(StreamInput::readOptionalString, String[]::new);
        int[] counts = in.readVIntArray();
        SearchHits hits = SearchHits.readFrom(in);
        ScoreDoc[] documents = new ScoreDoc[hits.getHits().length];
        for (int at = 0; at < documents.length; at++) {
            SearchHit hit = hits.getAt(at);
            documents[at] = hits.getSortFields() == null
                    ? new ScoreDoc(at, hit.getScore())
                    : new FieldDoc(at, hit.getScore(), hit.getRawSortValues());
        }
        return new Shard(new ShardGroups(matches, groups, keys, highest, documents, names, counts), hits);
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeCollection(shards, InternalGroups::writeShard);
    }

    private static void writeShard(StreamOutput out, Shard shard) throws IOException {
        ShardGroups groups = shard.groups;
        out.writeVLong(groups.matches());
        out.writeVLong(groups.groups());
        out.writeBoolean(groups.keys() != null);
        if (groups.keys() != null) {
            out.writeLongArray(groups.keys().hashes());
            out.writeVIntArray(groups.keys().counts());
        }
        out.writeFloat(groups.highest());
        out.writeArray(StreamOutput::writeOptionalString, groups.names());
        out.writeVIntArray(groups.counts());
        shard.hits.writeTo(out);
    }

    /** Returns what shards found, and their documents. */
    List<Shard> shards() {
        return shards;
    }

    @Override
    protected AggregatorReducer getLeaderReducer(AggregationReduceContext context, int size) {
        List<Shard> all = new ArrayList<>();
        return new AggregatorReducer() {
            @Override
            public void accept(InternalAggregation part) {
                all.addAll(((InternalGroups) part).shards);
            }

            @Override
            public InternalAggregation get() {
                if (context.isFinalReduce()) {
                    all.forEach(each -> context.transferTopHitsForRelease(each.hits)); // with the response
                }
                return new InternalGroups(all, metadata);
            }
        };
    }

    @Override
    protected boolean mustReduceOnSingleInternalAgg() {
        return true;
    }

    @Override
    public Object getProperty(List<String> path) {
        throw new UnsupportedOperationException(GroupsBuilder.NAME + " has no properties");
    }

    @Override
    public XContentBuilder doXContentBody(XContentBuilder builder, Params params) {
        return builder;
    }

    @Override
    public String getWriteableName() {
        return GroupsBuilder.NAME;
    }
}
