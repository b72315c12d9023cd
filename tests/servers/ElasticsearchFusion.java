import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.SearchPlugin;
import org.elasticsearch.search.rank.RankDoc;
import org.elasticsearch.search.retriever.CompoundRetrieverBuilder;
import org.elasticsearch.search.retriever.RetrieverBuilder;
import org.elasticsearch.search.retriever.RetrieverParserContext;
import org.elasticsearch.xcontent.ConstructingObjectParser;
import org.elasticsearch.xcontent.ParseField;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/**
 * The retrievers `rrf` and `linear` as the engine's manual describes them, over its own base of retrievers that rank what
 * others find: Maven's repository has the server without its commercial module rank-rrf.
 */
public class ElasticsearchFusion extends Plugin implements SearchPlugin {
    @Override
    public List<RetrieverSpec<?>> getRetrievers() {
        return List.of(
            new RetrieverSpec<>(Fusion.RRF, (parser, context) -> Fusion.RRF_PARSER.apply(parser, context)),
            new RetrieverSpec<>(Fusion.LINEAR, (parser, context) -> Fusion.LINEAR_PARSER.apply(parser, context)));
    }

    /** One of the retrievers that are fused, with its weight. */
    record Part(RetrieverBuilder retriever, float weight, String normalizer) {
        static Part parse(XContentParser parser, RetrieverParserContext context) throws IOException {
            RetrieverBuilder retriever = null;
            float weight = 1;
            String normalizer = "none";
            parser.nextToken();
            if (!List.of("retriever", "weight", "normalizer").contains(parser.currentName())) {
                retriever = named(parser, context);
                parser.nextToken();
                return new Part(retriever, weight, normalizer);
            }
            for (; parser.currentToken() != XContentParser.Token.END_OBJECT; parser.nextToken()) {
                String name = parser.currentName();
                parser.nextToken();
                switch (name) {
                    case "retriever" -> {
                        parser.nextToken();
                        retriever = named(parser, context);
                        parser.nextToken();
                    }
                    case "weight" -> weight = parser.floatValue();
                    case "normalizer" -> normalizer = parser.text();
                    default -> throw new IllegalArgumentException("unknown field [" + name + "]");
                }
            }
            return new Part(retriever, weight, normalizer);
        }

        private static RetrieverBuilder named(XContentParser parser, RetrieverParserContext context) throws IOException {
            String kind = parser.currentName();
            parser.nextToken();
            return parser.namedObject(RetrieverBuilder.class, kind, context);
        }

        /** What a hit of this retriever adds to the score of a document. */
        float points(ScoreDoc[] hits, int rank) {
            if (!normalizer.equals("minmax")) {
                return weight * hits[rank].score;
            }
            float least = hits[hits.length - 1].score;
            float most = hits[0].score;
            return most == least ? weight : weight * (hits[rank].score - least) / (most - least);
        }
    }

    /** Documents of several retrievers, ranked by a sum over these. */
    static final class Fusion extends CompoundRetrieverBuilder<Fusion> {
        static final String RRF = "rrf";
        static final String LINEAR = "linear";
        static final ConstructingObjectParser<Fusion, RetrieverParserContext> RRF_PARSER = parser(RRF);
        static final ConstructingObjectParser<Fusion, RetrieverParserContext> LINEAR_PARSER = parser(LINEAR);

        private final String name;
        private final List<Part> parts;
        private final int constant;

        @SuppressWarnings("unchecked")
        private static ConstructingObjectParser<Fusion, RetrieverParserContext> parser(String name) {
            var parser = new ConstructingObjectParser<Fusion, RetrieverParserContext>(name, arguments -> {
                List<Part> parts = (List<Part>) arguments[0];
                return new Fusion(name, parts, sources(parts), number(arguments[1], 10), number(arguments[2], 60));
            });
            parser.declareObjectArray(ConstructingObjectParser.constructorArg(), Part::parse, new ParseField("retrievers"));
            parser.declareInt(ConstructingObjectParser.optionalConstructorArg(), RANK_WINDOW_SIZE_FIELD);
            parser.declareInt(ConstructingObjectParser.optionalConstructorArg(), new ParseField("rank_constant"));
            declareCommonFields(parser);
            return parser;
        }

        /** As the engine's own method does, whose arguments differ between versions. */
        private static void declareCommonFields(ConstructingObjectParser<Fusion, RetrieverParserContext> parser) {
            parser.declareObjectArray(
                (fusion, filters) -> fusion.preFilterQueryBuilders = new ArrayList<>(filters),
                (json, context) -> AbstractQueryBuilder.parseTopLevelQuery(json, context::trackQueryUsage),
                PRE_FILTER_FIELD);
            parser.declareString((fusion, text) -> fusion.retrieverName = text, NAME_FIELD);
            parser.declareFloat((fusion, score) -> fusion.minScore = score, MIN_SCORE_FIELD);
        }

        private static int number(Object value, int otherwise) {
            return value == null ? otherwise : (Integer) value;
        }

        private static List<RetrieverSource> sources(List<Part> parts) {
            return new ArrayList<>(parts.stream().map(each -> RetrieverSource.from(each.retriever)).toList());
        }

        private Fusion(String name, List<Part> parts, List<RetrieverSource> sources, int window, int constant) {
            super(sources, window);
            this.name = name;
            this.parts = parts;
            this.constant = constant;
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        protected Fusion clone(List<RetrieverSource> retrievers, List<QueryBuilder> filters) {
            Fusion clone = new Fusion(name, parts, retrievers, rankWindowSize, constant);
            clone.preFilterQueryBuilders = filters;
            clone.retrieverName = retrieverName;
            clone.minScore = minScore;
            return clone;
        }

        @Override
        protected RankDoc[] combineInnerRetrieverResults(List<ScoreDoc[]> results, boolean explain) {
            Map<RankDoc.RankKey, Float> scores = new HashMap<>();
            for (int at = 0; at < results.size(); at++) {
                ScoreDoc[] hits = results.get(at);
                for (int rank = 0; rank < hits.length; rank++) {
                    float points = name.equals(RRF) ? 1f / (constant + rank + 1) : parts.get(at).points(hits, rank);
                    scores.merge(new RankDoc.RankKey(hits[rank].doc, hits[rank].shardIndex), points, Float::sum);
                }
            }
            List<RankDoc> ranked = new ArrayList<>();
            scores.forEach((key, score) -> ranked.add(new RankDoc(key.doc(), score, key.shardIndex())));
            RankDoc[] best = ranked.stream().sorted().limit(rankWindowSize).toArray(RankDoc[]::new);
            for (int at = 0; at < best.length; at++) {
                best[at].rank = at + 1;
            }
            return best;
        }

        @Override
        protected void doToXContent(XContentBuilder builder, Params params) throws IOException {
            builder.startArray("retrievers");
            for (Part each : parts) {
                builder.startObject().field("retriever", each.retriever);
                builder.field("weight", each.weight).field("normalizer", each.normalizer).endObject();
            }
            builder.endArray().field("rank_window_size", rankWindowSize).field("rank_constant", constant);
        }
    }
}
