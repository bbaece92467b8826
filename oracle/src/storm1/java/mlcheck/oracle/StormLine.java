package mlcheck.oracle;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.task.ShellBolt;

/**
 * Storm before 2.0, where the executor is written in Clojure and its emits are closures inside a function that wants a
 * whole worker. What can be called alone is called: the system topology, the groupings and the choice of target tasks
 * are Storm's own functions. The lines around them are imitated, see ImitatedBoltCollector and ImitatedSpoutCollector.
 */
public final class StormLine implements Storm {
    private static final boolean BEFORE_1 = ShellBolt.class.getName().startsWith("backtype");

    @Override
    public Component bolt(List<String> command, Path folder, Map<String, Object> overrides, Long timeout)
            throws Exception {
        Map<String, Object> conf = conf(folder, overrides, timeout);
        return new BoltInTask(new ScriptedBolt(command), new StandInTask(ExampleTopology.withBolt(command), conf));
    }

    @Override
    public Component spout(List<String> command, Path folder, Map<String, Object> overrides, Long timeout)
            throws Exception {
        Map<String, Object> conf = conf(folder, overrides, timeout);
        return new SpoutInTask(new ScriptedSpout(command), new StandInTask(ExampleTopology.withSpout(command), conf));
    }

    private static Map<String, Object> conf(Path folder, Map<String, Object> overrides, Long timeout) {
        String key = BEFORE_1 ? "supervisor.worker.timeout.secs" : "topology.subprocess.timeout.secs";
        return StormConf.merged(folder, overrides, key, timeout);
    }

    @Override
    public List<String> loggers() {
        return List.of(Main.COMPONENT, ShellBolt.class.getName(), ShellSpout.class.getName());
    }
}
