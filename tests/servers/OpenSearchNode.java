import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.plugins.Plugin;

/** One OpenSearch node out of the jars of a Maven repository, with the modules of the distribution that searches use. */
public class OpenSearchNode {
    static final List<String> MODULES = List.of(
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        "org.opensearch.index.mapper.MapperExtrasModulePlugin",
        "org.opensearch.index.reindex.ReindexModulePlugin",
        "org.opensearch.ingest.common.IngestCommonModulePlugin",
        "org.opensearch.painless.PainlessModulePlugin",
        "org.opensearch.search.pipeline.common.SearchPipelineCommonModulePlugin",
        "org.opensearch.transport.Netty4ModulePlugin");

    /** Loads a module, whose name has a part less before 3.0. */
    static Class<? extends Plugin> module(String name) throws ClassNotFoundException {
        try {
            return Class.forName(name).asSubclass(Plugin.class);
        } catch (ClassNotFoundException older) {
            return Class.forName(name.replace("ModulePlugin", "Plugin")).asSubclass(Plugin.class);
        }
    }

    /** Starts the node: its home folder, then settings as key=value. */
    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        Settings.Builder settings = Settings.builder().put("path.home", home);
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        List<Class<? extends Plugin>> plugins = new ArrayList<>();
        for (String name : MODULES) {
            try {
                plugins.add(module(name));
            } catch (ClassNotFoundException notInThisVersion) {
                System.err.println("without " + name);
            }
        }
        new OpenSearchRunnerNode(new Environment(settings.build(), home.resolve("config")), plugins).start();
        Thread.currentThread().join();
    }
}
