package mlcheck.oracle;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.TupleImpl;

/**
 * The bolt's collector by the rules of executor.clj ("bolt-emit"): the real function chooses the target tasks, then a
 * real tuple is made for each, which is what checks its number of values; it goes nowhere. With no target no tuple is
 * made. Acks and fails change nothing that a component could see, and end here.
 */
final class ImitatedBoltCollector implements IOutputCollector {
    private final StandInTask task;
    private final Random random = new Random();

    ImitatedBoltCollector(StandInTask task) {
        this.task = task;
    }

    @Override
    public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> values) {
        return send(task.targets(stream, values), stream, anchors, values);
    }

    @Override
    public void emitDirect(int target, String stream, Collection<Tuple> anchors, List<Object> values) {
        send(task.targets(target, stream, values), stream, anchors, values);
    }

    private List<Integer> send(List<Integer> targets, String stream, Collection<Tuple> anchors, List<Object> values) {
        for (int i = 0; i < targets.size(); i++) {
            new TupleImpl(task.workerContext(), values, ExampleTopology.TASK, stream, MessageId.makeId(edges(anchors)));
        }
        return targets;
    }

    private Map<Long, Long> edges(Collection<Tuple> anchors) {
        Map<Long, Long> edges = new HashMap<>();
        for (Tuple anchor : anchors) {
            long edge = MessageId.generateId(random);
            ((TupleImpl) anchor).updateAckVal(edge);
            for (Long root : anchor.getMessageId().getAnchorsToIds().keySet()) {
                edges.merge(root, edge, (one, other) -> one ^ other);
            }
        }
        return edges;
    }

    @Override
    public void ack(Tuple input) {
        // see above
    }

    @Override
    public void fail(Tuple input) {
        // see above
    }

    @Override
    public void reportError(Throwable error) {
        throw new UnsupportedOperationException("the recording collector keeps errors");
    }

    public void resetTimeout(Tuple input) {
        throw new UnsupportedOperationException("no shell bolt asks for it");
    }
}
