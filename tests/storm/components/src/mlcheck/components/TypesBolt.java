package mlcheck.components;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/** Wants the types of NumberSpout's values; fails each tuple once, and sends it on to a task that it names. */
public class TypesBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1L;
    private static final List<Class<?>> TYPES = List.of(String.class, Integer.class, Long.class, Float.class,
        byte[].class, BigDecimal.class, AtomicInteger.class);

    private transient OutputCollector collector;
    private transient List<Integer> targets;
    private transient java.util.Set<Object> seen;
    private transient int task;

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        this.collector = collector;
        targets = context.getComponentTasks("window");
        task = context.getThisTaskId();
        seen = new java.util.HashSet<>();
    }

    @Override
    public void execute(Tuple input) {
        for (int at = 0; at < TYPES.size(); at++) {
            if (input.getValue(at).getClass() != TYPES.get(at)) {
                throw new IllegalStateException(input.getFields().get(at) + " is " + input.getValue(at).getClass());
            }
        }
        if (seen.add(input.getValue(1))) {
            collector.fail(input);
            return;
        }
        int target = targets.get(input.getInteger(1) % targets.size());
        collector.emitDirect(target, "direct", new Values(input.getLongByField("long"), target));
        List<Integer> sent = collector.emit(input, new Values(input.getValue(6), input.getString(0), task));
        if (sent.size() != 1) {
            throw new IllegalStateException("sent to " + sent);
        }
        collector.ack(input);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declareStream("direct", true, new Fields("long", "target"));
        declarer.declare(new Fields("atomic", "text", "task"));
    }
}
