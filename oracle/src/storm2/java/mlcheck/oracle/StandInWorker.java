package mlcheck.oracle;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.cluster.IStateStorage;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.daemon.Task;
import org.apache.storm.daemon.worker.WorkerState;
import org.apache.storm.executor.Executor;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metrics2.StormMetricRegistry;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.ConfigUtils;
import org.apache.storm.utils.ThriftTopologyUtils;
import org.objenesis.ObjenesisStd;

/**
 * A WorkerState whose constructor never ran: that one wants ZooKeeper, a supervisor's files and a network. The fields
 * that executors and tasks ask for are filled in by hand, as it would have filled them; the getters are the real ones.
 * The system topology is Storm's own.
 */
final class StandInWorker {
    private static final int PORT = 6700;
    private static final String NODE = "node";

    private final WorkerState state = new ObjenesisStd().newInstance(WorkerState.class);
    private final Map<String, Object> conf;

    StandInWorker(StormTopology topology, Map<String, Object> conf) throws Exception {
        this.conf = conf;
        StormConf.makeFolders(
            ConfigUtils.supervisorStormResourcesPath(ConfigUtils.supervisorStormDistRoot(conf, StormConf.TOPOLOGY)),
            ConfigUtils.workerPidsRoot(conf, StormConf.WORKER));
        StormTopology system = StormCommon.systemTopology(conf, topology);
        Map<Integer, String> tasks = ExampleTopology.tasks(conf);
        set("topology", topology);
        set("systemTopology", system);
        set("taskToComponent", tasks);
        set("componentToSortedTasks", ExampleTopology.tasksOf(tasks));
        set("componentToStreamToFields", fields(system));
        set("cachedTaskToNodePort", new AtomicReference<>(nodes(tasks)));
        fillIdentity();
        fillServices();
    }

    private void fillIdentity() throws ReflectiveOperationException {
        set("conf", conf);
        set("topologyConf", conf);
        set("topologyId", StormConf.TOPOLOGY);
        set("assignmentId", NODE);
        set("workerId", StormConf.WORKER);
        set("port", PORT);
        set("localTaskIds", new ArrayList<>(List.of(ExampleTopology.TASK)));
        set("defaultSharedResources", new HashMap<>());
        set("userSharedResources", new HashMap<>());
        set("cachedNodeToHost", new AtomicReference<>(new HashMap<>(Map.of(NODE, "localhost"))));
    }

    private void fillServices() throws ReflectiveOperationException {
        set("stateStorage", Proxy.newProxyInstance(IStateStorage.class.getClassLoader(),
            new Class<?>[] {IStateStorage.class}, (proxy, method, arguments) -> null));
        set("executorReceiveQueueMap", new HashMap<>());
        set("isWorkerActive", new CountDownLatch(0));
        set("isTopologyActive", new AtomicBoolean(true));
        set("stormComponentToDebug", new AtomicReference<>(new HashMap<>()));
        set("blobToLastKnownVersion", new ConcurrentHashMap<>());
        set("suicideCallback", (Runnable) () -> System.exit(20));
        set("metricRegistry", new StormMetricRegistry());
    }

    /** Fields that this version does not have yet are passed over. */
    private void set(String name, Object value) throws ReflectiveOperationException {
        try {
            Field field = WorkerState.class.getDeclaredField(name);
            field.setAccessible(true);
            field.set(state, value);
        } catch (NoSuchFieldException absent) {
            // of another version
        }
    }

    private static Map<String, Map<String, Fields>> fields(StormTopology system) {
        Map<String, Map<String, Fields>> fields = new HashMap<>();
        for (String component : ThriftTopologyUtils.getComponentIds(system)) {
            Map<String, Fields> streams = new HashMap<>();
            ThriftTopologyUtils.getComponentCommon(system, component).get_streams().forEach(
                (stream, info) -> streams.put(stream, new Fields(info.get_output_fields())));
            fields.put(component, streams);
        }
        return fields;
    }

    private static Map<Integer, NodeInfo> nodes(Map<Integer, String> tasks) {
        Map<Integer, NodeInfo> nodes = new TreeMap<>();
        for (Integer task : tasks.keySet()) {
            nodes.put(task, new NodeInfo(NODE, Collections.singleton((long) PORT)));
        }
        return nodes;
    }

    /** The component's executor, as a worker makes it; what it transfers goes nowhere. */
    Executor executor() {
        long task = ExampleTopology.TASK;
        Executor executor = Executor.mkExecutor(state, List.of(task, task), new HashMap<>());
        executor.setLocalExecutorTransfer(new WireTransfer(state, executor.getTopoConf()));
        return executor;
    }

    /** The component's task, made as {@code mkExecutor} makes it. */
    static Task task(Executor executor) throws Exception {
        return new Task(executor, ExampleTopology.TASK);
    }
}
