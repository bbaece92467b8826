package mlcheck.cluster;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.shade.net.minidev.json.JSONValue;

/**
 * A LocalCluster that is told on standard input what to run, and writes events on standard output: JSON, one a line.
 * {"run": FLUX FILE, "resources": FOLDER} starts a topology, "stop" ends it. It halts when standard input ends.
 */
public final class Main {
    private Main() {
    }

    /** One argument: an empty folder for ZooKeeper. */
    public static void main(String[] args) throws Exception {
        Events.open();
        Resources resources = new Resources();
        Thread.currentThread().setContextClassLoader(resources);
        // LocalCluster looks for resources in the jars of the class path first, and Flux has some.
        System.setProperty("java.class.path", "");
        Deaths.watch();
        int status = 1;
        try {
            serve(start(new File(args[0])), resources);
            status = 0;
        } catch (Exception error) {
            error.printStackTrace();
        } finally {
            Processes.end(Processes.all());
            Deaths.allow();
            // Not exit: Storm has shutdown hooks that wait, and threads that do not end.
            Runtime.getRuntime().halt(status);
        }
    }

    private static LocalCluster start(File folder) throws Exception {
        long port = LoopbackZookeeper.start(folder);
        LocalCluster cluster = new LocalCluster.Builder()
            .withSupervisors(1)
            .withDaemonConf(Config.TOPOLOGY_ENABLE_MESSAGE_TIMEOUTS, true)
            .withDaemonConf(Config.STORM_ZOOKEEPER_SERVERS, List.of("127.0.0.1"))
            .withDaemonConf(Config.STORM_ZOOKEEPER_PORT, port)
            .withDaemonConf(DaemonConfig.SUPERVISOR_MONITOR_FREQUENCY_SECS, 1)
            .withDaemonConf(Config.SUPERVISOR_WORKER_SHUTDOWN_SLEEP_SECS, 0)
            .build();
        Events.write("up");
        return cluster;
    }

    private static void serve(LocalCluster cluster, Resources resources) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Topology running = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("stop")) {
                running.stop();
                continue;
            }
            Map<?, ?> request = (Map<?, ?>) JSONValue.parse(line);
            resources.show(Path.of((String) request.get("resources")));
            running = new Topology(cluster);
            running.start((String) request.get("run"));
        }
    }
}
