package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.daemon.Task;
import org.apache.storm.executor.bolt.BoltExecutor;
import org.apache.storm.executor.bolt.BoltOutputCollectorImpl;
import org.apache.storm.task.IBolt;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.TupleImpl;

/** The bolt of a real task, prepared as BoltExecutor.init does it, with the real collector under the recording one. */
final class BoltInWorker implements Component {
    private final BoltExecutor executor;
    private final Task task;
    private final IBolt bolt;
    private final Random random = new Random();
    private RecordingBoltCollector collector;

    BoltInWorker(StandInWorker worker) throws Exception {
        executor = (BoltExecutor) worker.executor();
        task = StandInWorker.task(executor);
        bolt = (IBolt) task.getTaskObject();
    }

    @Override
    public void start() {
        Map<String, Object> conf = executor.getTopoConf();
        collector = new RecordingBoltCollector(
            new BoltOutputCollectorImpl(executor, task, random, false, StormCommon.hasAckers(conf), false));
        bolt.prepare(conf, task.getUserContext(), new OutputCollector(collector));
        executor.getOpenOrPrepareWasCalled().set(true);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void execute(Map<String, Object> tuple) {
        TupleImpl input = new TupleImpl(executor.getWorkerTopologyContext(), (List<Object>) tuple.get("values"),
            (String) tuple.getOrDefault("comp", "src"), ((Number) tuple.getOrDefault("task", 2L)).intValue(),
            (String) tuple.getOrDefault("stream", "default"),
            MessageId.makeRootId(MessageId.generateId(random), MessageId.generateId(random)));
        collector.given(input);
        bolt.execute(input);
    }

    @Override
    public void stop() {
        bolt.cleanup();
    }
}
