package mlcheck.oracle;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.task.ShellBolt;

/** Storm 2.x: a real executor with its real task, in a worker that is filled in by hand. */
public final class StormLine implements Storm {
    @Override
    public Component bolt(List<String> command, Path folder, Map<String, Object> overrides, Long timeout)
            throws Exception {
        Map<String, Object> conf = conf(folder, overrides, timeout);
        return new BoltInWorker(worker(ExampleTopology.withBolt(command), conf));
    }

    @Override
    public Component spout(List<String> command, Path folder, Map<String, Object> overrides, Long timeout)
            throws Exception {
        Map<String, Object> conf = conf(folder, overrides, timeout);
        return new SpoutInWorker(worker(ExampleTopology.withSpout(command), conf));
    }

    private static Map<String, Object> conf(Path folder, Map<String, Object> overrides, Long timeout) {
        return StormConf.merged(folder, overrides, "topology.subprocess.timeout.secs", timeout);
    }

    private static StandInWorker worker(StormTopology topology, Map<String, Object> conf) throws Exception {
        return new StandInWorker(topology, conf);
    }

    @Override
    public List<String> loggers() {
        return List.of(Main.COMPONENT, ShellBolt.class.getName(), ShellSpout.class.getName());
    }
}
