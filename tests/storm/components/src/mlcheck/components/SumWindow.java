package mlcheck.components;

import java.util.Map;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseWindowedBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;
import org.apache.storm.windowing.TupleWindow;

/** Sums up the windows of what was sent to this very task. */
public class SumWindow extends BaseWindowedBolt {
    private static final long serialVersionUID = 1L;

    private transient OutputCollector collector;
    private transient int task;

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        this.collector = collector;
        task = context.getThisTaskId();
    }

    @Override
    public void execute(TupleWindow window) {
        long sum = 0;
        for (Tuple tuple : window.getNew()) {
            if (tuple.getInteger(1) != task) {
                throw new IllegalStateException("meant for task " + tuple.getInteger(1));
            }
            sum += tuple.getLong(0);
        }
        collector.emit(window.getNew(), new Values(sum, window.getNew().size()));
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("sum", "count"));
    }
}
