package mlcheck.oracle;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.tuple.Tuple;

/**
 * Notes what a bolt asks of its collector and passes it on to the real one. Errors end here: the real collector would
 * write them to ZooKeeper. The methods without Override came with 1.0 (resetTimeout) and 2.0 (flush).
 */
final class RecordingBoltCollector implements IOutputCollector {
    private final IOutputCollector real;
    private final Recorder recorder = Recorder.current();
    private final List<Tuple> inputs = new ArrayList<>();

    RecordingBoltCollector(IOutputCollector real) {
        this.real = real;
    }

    /** Must be told every tuple the bolt gets: events name them by their place in this order. */
    synchronized void given(Tuple input) {
        inputs.add(input);
    }

    private synchronized int indexOf(Tuple input) {
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i) == input) {
                return i;
            }
        }
        return -1;
    }

    private List<Integer> indexes(Collection<Tuple> anchors) {
        return anchors.stream().map(this::indexOf).toList();
    }

    @Override
    public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> tuple) {
        return Emits.plain(recorder, recorder.emit(stream, indexes(anchors), tuple, null, null),
            () -> real.emit(stream, anchors, tuple));
    }

    @Override
    public void emitDirect(int task, String stream, Collection<Tuple> anchors, List<Object> tuple) {
        Emits.direct(recorder, recorder.emit(stream, indexes(anchors), tuple, task, null),
            () -> real.emitDirect(task, stream, anchors, tuple));
    }

    @Override
    public void ack(Tuple input) {
        recorder.add("ack", "tuple", indexOf(input));
        real.ack(input);
    }

    @Override
    public void fail(Tuple input) {
        recorder.add("fail", "tuple", indexOf(input));
        real.fail(input);
    }

    @Override
    public void reportError(Throwable error) {
        recorder.error(error);
    }

    public void resetTimeout(Tuple input) {
        throw new UnsupportedOperationException("no shell bolt asks for it");
    }

    public void flush() {
        throw new UnsupportedOperationException("no shell bolt asks for it");
    }
}
