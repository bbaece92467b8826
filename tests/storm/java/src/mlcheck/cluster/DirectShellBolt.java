package mlcheck.cluster;

import org.apache.storm.flux.wrappers.bolts.FluxShellBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Fields;

/** A FluxShellBolt with a stream `direct` for direct emits: Flux can declare none. */
public final class DirectShellBolt extends FluxShellBolt {
    private static final long serialVersionUID = 1;

    private final String[] fields;

    /** Flux calls it with constructorArgs: the command, and the fields of the stream. */
    public DirectShellBolt(String[] command, String[] fields) {
        super(command);
        this.fields = fields.clone();
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declareStream("direct", true, new Fields(fields));
    }
}
