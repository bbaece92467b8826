package mlcheck.cluster;

import java.util.HashMap;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.task.IBolt;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.Tuple;

/** A ShellBolt that is told what a worker of a real cluster would tell it: in local mode it does not exit when it dies. */
final class HostedBolt implements IBolt {
    private static final long serialVersionUID = 1;

    private final ShellBolt bolt;

    HostedBolt(ShellBolt bolt) {
        this.bolt = bolt;
    }

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        Where.enter(context.getThisComponentId());
        Map<String, Object> distributed = new HashMap<>(conf);
        distributed.put(Config.STORM_CLUSTER_MODE, "distributed");
        bolt.prepare(distributed, context, collector);
    }

    @Override
    public void execute(Tuple input) {
        bolt.execute(input);
    }

    @Override
    public void cleanup() {
        bolt.cleanup();
    }
}
