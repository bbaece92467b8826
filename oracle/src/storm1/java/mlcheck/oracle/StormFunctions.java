package mlcheck.oracle;

import clojure.lang.IFn;
import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.PersistentHashMap;
import clojure.lang.RT;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.util.List;
import java.util.Map;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;

/** Those functions of Storm's Clojure code that can be called without a worker. */
final class StormFunctions {
    private static final String DAEMON = "org.apache.storm.daemon.";
    private static final int WITH_CONF = 3;
    private static final int GROUPER_WITH_CONF = 7;

    static {
        Var require = RT.var("clojure.core", "require");
        for (String namespace : new String[] {"common", "executor", "task"}) {
            require.invoke(Symbol.intern(DAEMON + namespace));
        }
    }

    private StormFunctions() {
    }

    /** common/system-topology!: the topology with its acker, its system component and their streams. */
    static StormTopology systemTopology(IPersistentMap conf, StormTopology topology) {
        return (StormTopology) RT.var(DAEMON + "common", "system-topology!").invoke(conf, topology);
    }

    /** executor/outbound-components: by stream and consumer, what chooses the target tasks. */
    static Object outboundComponents(WorkerTopologyContext context, String component, IPersistentMap conf) {
        Var function = RT.var(DAEMON + "executor", "outbound-components");
        return parameters(function) == WITH_CONF
            ? function.invoke(context, component, conf) // since 1.0
            : function.invoke(context, component);
    }

    /** task/mk-tasks-fn: a function of [stream, values] or [task, stream, values] that returns target tasks. */
    static IFn tasksFunction(IPersistentMap taskData) {
        return (IFn) RT.var(DAEMON + "task", "mk-tasks-fn").invoke(taskData);
    }

    /** Since 1.0, what chooses tasks is told their load, and made with the conf. */
    static boolean groupersKnowLoad() {
        return parameters(RT.var(DAEMON + "executor", "mk-grouper")) == GROUPER_WITH_CONF;
    }

    /** executor/mk-grouper: a function of [task, values], or [task, values, load]. */
    static IFn grouper(WorkerTopologyContext context, String source, String stream, Fields fields, Grouping grouping,
            List<Integer> tasks) {
        Var function = RT.var(DAEMON + "executor", "mk-grouper");
        return (IFn) (groupersKnowLoad()
            ? function.invoke(context, source, stream, fields, grouping, tasks, PersistentHashMap.EMPTY)
            : function.invoke(context, source, stream, fields, grouping, tasks));
    }

    private static int parameters(Var function) {
        return RT.count(RT.first(RT.get(function.meta(), Keyword.intern("arglists"))));
    }

    /** A Clojure map with keywords for keys. */
    static IPersistentMap keywords(Object... keysAndValues) {
        IPersistentMap map = PersistentHashMap.EMPTY;
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map = map.assoc(Keyword.intern((String) keysAndValues[i]), keysAndValues[i + 1]);
        }
        return map;
    }

    static IPersistentMap persistent(Map<String, Object> map) {
        return PersistentHashMap.create(map);
    }
}
