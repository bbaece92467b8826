package mlcheck.javahost;

import java.util.List;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.TupleImpl;

/** A tuple with the id that it has in the protocol. */
final class HostedTuple extends TupleImpl {
    private final String id;

    HostedTuple(TopologyContext context, String id, List<Object> values, String component, int task, String stream) {
        super(context, values, component, task, stream, MessageId.makeUnanchored());
        this.id = id;
    }

    String id() {
        return id;
    }
}
