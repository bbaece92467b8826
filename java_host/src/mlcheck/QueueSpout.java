package mlcheck;

import java.util.Map;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Fields;

/** The spout of mlcheck's own queue, so that Flux can build a topology with one: mlcheck starts it. */
public final class QueueSpout extends ShellSpout implements IRichSpout {
    private static final long serialVersionUID = 1L;

    private final String[] fields;

    public QueueSpout() {
        this(new String[] {"message"});
    }

    public QueueSpout(String[] fields) {
        super("mlcheck.QueueSpout");
        this.fields = fields;
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(fields));
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        return null;
    }
}
