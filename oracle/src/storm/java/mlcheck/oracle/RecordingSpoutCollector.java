package mlcheck.oracle;

import java.util.List;
import org.apache.storm.spout.ISpoutOutputCollector;

/** The same for a spout. getPendingCount came with 1.0, flush with 2.0. */
final class RecordingSpoutCollector implements ISpoutOutputCollector {
    private final ISpoutOutputCollector real;
    private final Recorder recorder = Recorder.current();

    RecordingSpoutCollector(ISpoutOutputCollector real) {
        this.real = real;
    }

    @Override
    public List<Integer> emit(String stream, List<Object> tuple, Object id) {
        return Emits.plain(recorder, recorder.emit(stream, null, tuple, null, id), () -> real.emit(stream, tuple, id));
    }

    @Override
    public void emitDirect(int task, String stream, List<Object> tuple, Object id) {
        Emits.direct(recorder, recorder.emit(stream, null, tuple, task, id),
            () -> real.emitDirect(task, stream, tuple, id));
    }

    @Override
    public void reportError(Throwable error) {
        recorder.error(error);
    }

    public long getPendingCount() {
        throw new UnsupportedOperationException("no shell spout asks for it");
    }

    public void flush() {
        throw new UnsupportedOperationException("no shell spout asks for it");
    }
}
