package mlcheck.javahost;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metrics2.StormMetricRegistry;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.ThriftTopologyUtils;

/** Topology contexts as a worker makes them, with Storm's own system streams. */
final class Contexts {
    private static final int PORT = 6700;

    private final StormTopology topology;
    private final StormTopology system;
    private final Map<String, Object> conf;
    private final Map<Integer, String> tasks;
    private final String pidDir;

    Contexts(StormTopology topology, Map<String, Object> conf, Map<Integer, String> tasks, String pidDir)
            throws Exception {
        this.topology = topology;
        this.conf = conf;
        this.tasks = tasks;
        this.pidDir = pidDir;
        system = StormCommon.systemTopology(conf, topology);
    }

    TopologyContext of(int task) {
        Map<String, Object> shared = new HashMap<>();
        shared.put(WorkerTopologyContext.SHARED_EXECUTOR, Executors.newCachedThreadPool(Contexts::daemon));
        String id = String.valueOf(conf.getOrDefault("storm.id", "topology"));
        return new TopologyContext(system, conf, tasks, tasksOf(), fields(), new ConcurrentHashMap<>(), id,
            System.getProperty("user.dir"), pidDir, task, PORT, new ArrayList<>(tasks.keySet()), shared,
            new HashMap<>(), new HashMap<>(), new HashMap<>(), new AtomicBoolean(false), new StormMetricRegistry());
    }

    /** The tasks of each component, ascending. */
    Map<String, List<Integer>> tasksOf() {
        Map<String, List<Integer>> found = new HashMap<>();
        new TreeMap<>(tasks).forEach(
            (task, component) -> found.computeIfAbsent(component, any -> new ArrayList<>()).add(task));
        return found;
    }

    private Map<String, Map<String, Fields>> fields() {
        Map<String, Map<String, Fields>> found = new HashMap<>();
        for (String component : ThriftTopologyUtils.getComponentIds(system)) {
            Map<String, Fields> streams = new HashMap<>();
            ThriftTopologyUtils.getComponentCommon(system, component).get_streams().forEach(
                (stream, info) -> streams.put(stream, new Fields(info.get_output_fields())));
            found.put(component, streams);
        }
        return found;
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }
}
