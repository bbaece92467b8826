package mlcheck.cluster;

import java.util.List;
import java.util.Map;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;

/** Emits the tuples it was made with once, with ids 1, 2, 3..., and then nothing. What fails is not emitted again. */
public final class FiniteSpout extends BaseRichSpout {
    private static final long serialVersionUID = 1;

    private final List<String> fields;
    private final List<List<Object>> tuples;
    private transient SpoutOutputCollector collector;
    private transient int emitted;

    /** Flux calls it with constructorArgs. */
    public FiniteSpout(List<String> fields, List<List<Object>> tuples) {
        this.fields = fields;
        this.tuples = tuples;
    }

    @Override
    public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        this.collector = collector;
    }

    @Override
    public void nextTuple() {
        if (emitted < tuples.size()) {
            collector.emit(tuples.get(emitted++), emitted);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(fields));
    }
}
