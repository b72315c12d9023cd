import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.pattern.PatternReplaceCharFilter;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.NormalizingTokenFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The character filter `pattern_replace`, the tokenizer `char_group` and the filter `asciifolding`, as the module analysis-common of Elasticsearch's distribution
 * has them: Maven's repository has the server without that module.
 */
public class ElasticsearchWords extends Plugin implements AnalysisPlugin {
    /** Classes of characters by the names of `tokenize_on_chars`; the general categories of Unicode. */
    static final Map<String, IntPredicate> CLASSES = Map.of(
        "whitespace", Character::isWhitespace,
        "punctuation", c -> List.of(20, 21, 22, 23, 24, 29, 30).contains(Character.getType(c)),
        "symbol", c -> List.of(25, 26, 27, 28).contains(Character.getType(c)));

    @Override
    public Map<String, AnalysisProvider<CharFilterFactory>> getCharFilters() {
        return Map.of("pattern_replace", (index, environment, name, settings) -> new Replacing(
            name, Pattern.compile(settings.get("pattern", "")), settings.get("replacement", "")));
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of("char_group", (index, environment, name, settings) -> charGroup(name, settings));
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of("asciifolding", (index, environment, name, settings) -> new Folding(name));
    }

    static TokenizerFactory charGroup(String name, Settings settings) {
        List<IntPredicate> separators = new ArrayList<>();
        for (String group : settings.getAsList("tokenize_on_chars")) {
            separators.add(CLASSES.getOrDefault(group, c -> c == group.codePointAt(0)));
        }
        return TokenizerFactory.newFactory(name, () -> new CharTokenizer() {
            @Override
            protected boolean isTokenChar(int c) {
                return separators.stream().noneMatch(separator -> separator.test(c));
            }
        });
    }

    /** Puts one text in the place of what a pattern matches. */
    record Replacing(String name, Pattern pattern, String replacement) implements CharFilterFactory {
        @Override
        public Reader create(Reader reader) {
            return new PatternReplaceCharFilter(pattern, replacement, reader);
        }
    }

    /** Puts ASCII in the place of Latin letters with diacritics. */
    record Folding(String name) implements NormalizingTokenFilterFactory {
        @Override
        public TokenStream create(TokenStream tokens) {
            return new ASCIIFoldingFilter(tokens);
        }
    }
}
