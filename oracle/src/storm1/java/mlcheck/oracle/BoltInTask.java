package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.TupleImpl;

/** A bolt, prepared as executor.clj does it. */
final class BoltInTask implements Component {
    private final ScriptedBolt bolt;
    private final StandInTask task;
    private final Random random = new Random();
    private RecordingBoltCollector collector;

    BoltInTask(ScriptedBolt bolt, StandInTask task) {
        this.bolt = bolt;
        this.task = task;
    }

    @Override
    public void start() {
        collector = new RecordingBoltCollector(new ImitatedBoltCollector(task));
        bolt.prepare(task.conf(), task.userContext(), new OutputCollector(collector));
        task.opened();
    }

    @Override
    @SuppressWarnings("unchecked")
    public void execute(Map<String, Object> tuple) {
        TupleImpl input = new TupleImpl(task.workerContext(), (List<Object>) tuple.get("values"),
            ((Number) tuple.getOrDefault("task", 2L)).intValue(), (String) tuple.getOrDefault("stream", "default"),
            MessageId.makeRootId(MessageId.generateId(random), MessageId.generateId(random)));
        collector.given(input);
        bolt.execute(input);
    }

    @Override
    public void stop() {
        bolt.cleanup();
    }
}
