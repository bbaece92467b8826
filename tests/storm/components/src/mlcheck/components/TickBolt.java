package mlcheck.components;

import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.topology.BasicOutputCollector;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseBasicBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;
import org.apache.storm.utils.TupleUtils;

/** Emits at each tick how much it was given, and what it was told. */
public class TickBolt extends BaseBasicBolt {
    private static final long serialVersionUID = 1L;

    private final Map<String, Object> told;
    private int count;

    public TickBolt(Map<String, Object> told) {
        this.told = told;
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        Config conf = new Config();
        conf.put(Config.TOPOLOGY_TICK_TUPLE_FREQ_SECS, 1);
        return conf;
    }

    @Override
    public void execute(Tuple input, BasicOutputCollector collector) {
        if (TupleUtils.isTick(input)) {
            collector.emit(new Values(count, told.get("told")));
        } else {
            count++;
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("count", "told"));
    }
}
