package mlcheck.components;

import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;

/** Emits so many numbers in every type, with an object as message id; what fails is emitted again. */
public class NumberSpout extends BaseRichSpout {
    private static final long serialVersionUID = 1L;

    private final int count;
    private String prefix = "";
    private String suffix = "";
    private transient Deque<Id> left;
    private transient SpoutOutputCollector collector;

    record Id(int number) {
    }

    public NumberSpout(int count) {
        this.count = count;
    }

    public void setPrefix(String prefix) {
        this.prefix = prefix;
    }

    public NumberSpout withSuffix(String suffix) {
        this.suffix = suffix;
        return this;
    }

    @Override
    public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        this.collector = collector;
        left = new ArrayDeque<>();
        for (int number = 0; number < count; number++) {
            left.add(new Id(number));
        }
    }

    @Override
    public void nextTuple() {
        Id id = left.poll();
        if (id != null) {
            int number = id.number();
            collector.emit(new Values(prefix + number + suffix, number, (long) number, (float) number, new byte[] {
                (byte) number}, new BigDecimal(number), new AtomicInteger(number)), id);
        }
    }

    @Override
    public void ack(Object id) {
        if (!(id instanceof Id)) {
            throw new IllegalArgumentException("no id of mine: " + id);
        }
    }

    @Override
    public void fail(Object id) {
        left.add((Id) id);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("text", "int", "long", "float", "bytes", "decimal", "atomic"));
    }
}
