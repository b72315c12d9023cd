import java.nio.file.Path;
import java.util.Map;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/** One Elasticsearch node out of the jars of a Maven repository. */
public class ElasticsearchNode {
    /** Starts the node: its home folder, then settings as key=value. */
    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        LogConfigurator.configureESLogging();
        Settings.Builder settings = Settings.builder().put("path.home", home)
            .put("http.type.default", "netty4").put("transport.type.default", "netty4");
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Environment environment = new Environment(settings.build(), home.resolve("config"));
        PluginsLoader plugins = PluginsLoader.createPluginsLoader(
            PluginsLoader.loadModulesBundles(environment.modulesDir(), false),
            PluginsLoader.loadPluginsBundles(environment.pluginsDir(), false), Map.of());
        new Node(environment, plugins).start();
        Thread.currentThread().join();
    }
}
