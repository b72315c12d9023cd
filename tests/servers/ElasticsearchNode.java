import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginBundle;
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
            bundles("loadModulesBundles", directory(environment, "modulesDir")),
            bundles("loadPluginsBundles", directory(environment, "pluginsDir")), Map.of());
        new Node(environment, plugins).start();
        Thread.currentThread().join();
    }

    /** Until 9.0 the methods of an environment end in `File`. */
    static Path directory(Environment environment, String name) throws Exception {
        for (Method each : Environment.class.getMethods()) {
            if (each.getName().equals(name) || each.getName().equals(name.replace("Dir", "File"))) {
                return (Path) each.invoke(environment);
            }
        }
        throw new IllegalStateException(name);
    }

    /** Until 9.4 these methods take the folder alone. */
    @SuppressWarnings("unchecked")
    static Set<PluginBundle> bundles(String name, Path folder) throws Exception {
        for (Method each : PluginsLoader.class.getMethods()) {
            if (each.getName().equals(name)) {
                Object found = each.getParameterCount() == 1 ? each.invoke(null, folder) : each.invoke(null, folder, false);
                return (Set<PluginBundle>) found;
            }
        }
        throw new IllegalStateException(name);
    }
}
