import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;

/** One node of a test cluster: the server's own class, with modules and plugins taken from the class path. */
public final class ClusterNode extends Node {
    private ClusterNode(Environment environment, List<Class<? extends Plugin>> plugins) {
        super(environment, plugins, true);
    }

    /** Arguments: the home folder, the plugin classes separated by commas, then settings as name=value. */
    public static void main(String[] arguments) throws Exception {
        List<Class<? extends Plugin>> plugins = new ArrayList<>();
        for (String name : arguments[1].split(",")) {
            plugins.add(Class.forName(name).asSubclass(Plugin.class));
        }
        Settings.Builder settings = Settings.builder().put("path.home", arguments[0]);
        for (int i = 2; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            settings.build(), Map.of(), Path.of(arguments[0], "config"), () -> arguments[0]);
        ClusterNode node = new ClusterNode(environment, plugins);
        node.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (java.io.IOException error) {
                error.printStackTrace();
            }
        }));
        new CountDownLatch(1).await();
    }
}
