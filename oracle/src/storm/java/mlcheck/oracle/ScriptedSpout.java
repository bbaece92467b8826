package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;

/** The real ShellSpout with the player as its process, in the form in which people put one into a topology. */
public final class ScriptedSpout extends ShellSpout implements IRichSpout {
    private static final long serialVersionUID = 1L;

    ScriptedSpout(List<String> command) {
        super(command.toArray(new String[0]));
    }

    @Override
    public void open(Map conf, TopologyContext context, SpoutOutputCollector collector) {
        ShellMetrics.register(context);
        super.open(conf, context, collector);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        ExampleTopology.declare(declarer);
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        return null;
    }
}
