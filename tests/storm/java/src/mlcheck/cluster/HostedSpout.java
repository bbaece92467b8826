package mlcheck.cluster;

import java.util.HashMap;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;

/** A ShellSpout whose timer's thread is known to be its own. */
final class HostedSpout implements ISpout {
    private static final long serialVersionUID = 1;

    private final ShellSpout spout;

    HostedSpout(ShellSpout spout) {
        this.spout = spout;
    }

    @Override
    public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        Where.enter(context.getThisComponentId());
        Map<String, Object> distributed = new HashMap<>(conf);
        distributed.put(Config.STORM_CLUSTER_MODE, "distributed");
        spout.open(distributed, context, collector);
    }

    @Override
    public void close() {
        spout.close();
    }

    @Override
    public void activate() {
        spout.activate();
    }

    @Override
    public void deactivate() {
        spout.deactivate();
    }

    @Override
    public void nextTuple() {
        spout.nextTuple();
    }

    @Override
    public void ack(Object id) {
        spout.ack(id);
    }

    @Override
    public void fail(Object id) {
        spout.fail(id);
    }
}
