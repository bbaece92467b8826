package mlcheck.oracle;

import java.util.List;
import java.util.Random;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.TupleImpl;

/**
 * The spout's collector by the rules of executor.clj ("send-spout-msg"): as for bolts, and a tuple with an id that
 * nobody tracks is acked before emit returns. Nobody does without ackers, and from 0.10.0 on if no task gets the tuple.
 */
final class ImitatedSpoutCollector implements ISpoutOutputCollector {
    private static final boolean BEFORE_0_10 = System.getProperty("storm.version", "").startsWith("0.9.");

    private final StandInTask task;
    private final ISpout spout;
    private final Random random = new Random();

    ImitatedSpoutCollector(StandInTask task, ISpout spout) {
        this.task = task;
        this.spout = spout;
    }

    @Override
    public List<Integer> emit(String stream, List<Object> values, Object id) {
        return send(task.targets(stream, values), stream, values, id);
    }

    @Override
    public void emitDirect(int target, String stream, List<Object> values, Object id) {
        send(task.targets(target, stream, values), stream, values, id);
    }

    private List<Integer> send(List<Integer> targets, String stream, List<Object> values, Object id) {
        boolean rooted = id != null && task.hasAckers();
        long root = MessageId.generateId(random);
        for (int i = 0; i < targets.size(); i++) {
            MessageId message = rooted
                ? MessageId.makeRootId(root, MessageId.generateId(random)) : MessageId.makeUnanchored();
            new TupleImpl(task.workerContext(), values, ExampleTopology.TASK, stream, message);
        }
        boolean tracked = rooted && (BEFORE_0_10 || !targets.isEmpty());
        if (id != null && !tracked) {
            spout.ack(id);
        }
        return targets;
    }

    @Override
    public void reportError(Throwable error) {
        throw new UnsupportedOperationException("the recording collector keeps errors");
    }

    public long getPendingCount() {
        throw new UnsupportedOperationException("no shell spout asks for it");
    }
}
