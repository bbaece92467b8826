package mlcheck.oracle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.utils.Utils;

/** The conf that a worker gets, and the folders it names. */
final class StormConf {
    /** The id of the topology. */
    static final String TOPOLOGY = "oracle-1-1";
    /** The id of the worker. */
    static final String WORKER = "worker";

    @SuppressWarnings("unchecked")
    private static final Map<String, Object> DEFAULTS = Utils.readDefaultConfig();

    private StormConf() {
    }

    /** This version's defaults, a distributed cluster that lives in `folder`, and what the case overrides. */
    static Map<String, Object> merged(Path folder, Map<String, Object> overrides, String timeoutKey, Long timeout) {
        Map<String, Object> conf = new HashMap<>(DEFAULTS);
        conf.put("storm.cluster.mode", "distributed");
        conf.put("storm.local.dir", folder.toString());
        conf.put("storm.id", TOPOLOGY);
        conf.put("topology.name", "oracle");
        // Statistics are stood in for: practically no tuple is sampled for them.
        conf.put("topology.stats.sample.rate", 1e-9);
        if (timeout != null) {
            conf.put(timeoutKey, timeout);
        }
        conf.putAll(overrides);
        return conf;
    }

    /** Makes the folders that a supervisor makes before it starts a worker. */
    static void makeFolders(String codeFolder, String pidFolder) throws IOException {
        Files.createDirectories(Path.of(codeFolder));
        Files.createDirectories(Path.of(pidFolder));
    }
}
