package mlcheck.oracle;

import clojure.lang.Atom;
import clojure.lang.IFn;
import clojure.lang.IPersistentMap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.generated.StreamInfo;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.ThriftTopologyUtils;

/** The component's task: contexts made as a worker makes them, and the real function that chooses target tasks. */
final class StandInTask {
    private static final int PORT = 6700;

    private final Map<String, Object> conf;
    private final WorkerTopologyContext workerContext;
    private final TopologyContext userContext;
    private final Atom openOrPrepareWasCalled = new Atom(false);
    private final IFn tasks;

    StandInTask(StormTopology topology, Map<String, Object> conf) throws Exception {
        this.conf = conf;
        Path home = Path.of((String) conf.get("storm.local.dir"));
        String code = home.resolve("supervisor/stormdist/" + StormConf.TOPOLOGY + "/resources").toString();
        String pids = home.resolve("workers/" + StormConf.WORKER + "/pids").toString();
        StormConf.makeFolders(code, pids);
        IPersistentMap confMap = StormFunctions.persistent(conf);
        StormTopology system = StormFunctions.systemTopology(confMap, topology);
        Map<Integer, String> components = ExampleTopology.tasks(conf);
        Map<String, List<Integer>> sorted = ExampleTopology.tasksOf(components);
        List<Integer> local = new ArrayList<>(List.of(ExampleTopology.TASK));
        workerContext = new WorkerTopologyContext(system, conf, components, sorted, fields(system), StormConf.TOPOLOGY,
            code, pids, PORT, local, new HashMap<>(), new HashMap<>());
        userContext = new TopologyContext(topology, conf, components, sorted, fields(system), StormConf.TOPOLOGY,
            code, pids, ExampleTopology.TASK, PORT, local, new HashMap<>(), new HashMap<>(), new HashMap<>(),
            new HashMap<>(), openOrPrepareWasCalled);
        tasks = StormFunctions.tasksFunction(taskData(confMap));
    }

    /** As much of a task's data as mk-tasks-fn looks at. Statistics are absent: StormConf keeps it from sampling. */
    private IPersistentMap taskData(IPersistentMap confMap) throws ReflectiveOperationException {
        Object groupers = StormFunctions.outboundComponents(workerContext, Main.COMPONENT, confMap);
        IPersistentMap executor = StormFunctions.keywords("component-id", Main.COMPONENT,
            "worker-context", workerContext, "storm-conf", confMap, "stream->component->grouper", groupers,
            "worker", StormFunctions.keywords("load-mapping", loadMapping()));
        return StormFunctions.keywords("task-id", ExampleTopology.TASK, "executor-data", executor,
            "user-context", userContext);
    }

    /** Since 1.0 the load of other tasks is part of the choice; here nobody has any. */
    private static Object loadMapping() throws ReflectiveOperationException {
        try {
            return Class.forName("org.apache.storm.grouping.LoadMapping").getDeclaredConstructor().newInstance();
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    private static Map<String, Map<String, Fields>> fields(StormTopology system) {
        Map<String, Map<String, Fields>> fields = new HashMap<>();
        for (Object component : ThriftTopologyUtils.getComponentIds(system)) {
            ComponentCommon common = ThriftTopologyUtils.getComponentCommon(system, (String) component);
            Map<String, Fields> streams = new HashMap<>();
            for (Map.Entry<String, StreamInfo> stream : common.get_streams().entrySet()) {
                streams.put(stream.getKey(), new Fields(stream.getValue().get_output_fields()));
            }
            fields.put((String) component, streams);
        }
        return fields;
    }

    Map<String, Object> conf() {
        return conf;
    }

    WorkerTopologyContext workerContext() {
        return workerContext;
    }

    TopologyContext userContext() {
        return userContext;
    }

    boolean hasAckers() {
        return !Integer.valueOf(0).equals(ExampleTopology.ackers(conf));
    }

    /** prepare or open has returned: no more metrics may be registered. */
    void opened() {
        openOrPrepareWasCalled.reset(true);
    }

    List<Integer> targets(String stream, List<Object> values) {
        return list(tasks.invoke(stream, values));
    }

    List<Integer> targets(int task, String stream, List<Object> values) {
        return list(tasks.invoke(task, stream, values));
    }

    /** A collection of numbers of whatever class, or nil. */
    private static List<Integer> list(Object targets) {
        List<Integer> list = new ArrayList<>();
        if (targets != null) {
            for (Object target : (Collection<?>) targets) {
                list.add(((Number) target).intValue());
            }
        }
        return list;
    }
}
