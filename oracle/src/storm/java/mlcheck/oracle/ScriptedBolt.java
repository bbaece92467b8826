package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;

/** The real ShellBolt with the player as its process, in the form in which people put one into a topology. */
public final class ScriptedBolt extends ShellBolt implements IRichBolt {
    private static final long serialVersionUID = 1L;

    ScriptedBolt(List<String> command) {
        super(command.toArray(new String[0]));
    }

    @Override
    public void prepare(Map conf, TopologyContext context, OutputCollector collector) {
        ShellMetrics.register(context);
        super.prepare(conf, context, collector);
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
