package mlcheck.oracle;

import java.util.Map;
import java.util.Random;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.daemon.Task;
import org.apache.storm.executor.spout.SpoutExecutor;
import org.apache.storm.executor.spout.SpoutOutputCollectorImpl;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.utils.MutableLong;
import org.apache.storm.utils.RotatingMap;

/** The spout of a real task, opened as SpoutExecutor.init does it, with the real collector under the recording one. */
final class SpoutInWorker implements Component {
    private static final int BUCKETS = 2;

    private final SpoutExecutor executor;
    private final Task task;
    private final ISpout spout;

    SpoutInWorker(StandInWorker worker) throws Exception {
        executor = (SpoutExecutor) worker.executor();
        task = StandInWorker.task(executor);
        spout = (ISpout) task.getTaskObject();
    }

    @Override
    public void start() {
        Map<String, Object> conf = executor.getTopoConf();
        RecordingSpoutCollector collector = new RecordingSpoutCollector(
            new SpoutOutputCollectorImpl(spout, executor, task, new MutableLong(0), StormCommon.hasAckers(conf),
                new Random(), false, false, new RotatingMap<>(BUCKETS)));
        spout.open(conf, task.getUserContext(), new SpoutOutputCollector(collector));
        executor.getOpenOrPrepareWasCalled().set(true);
    }

    @Override
    public void call(String command, Object id) {
        SpoutCalls.call(spout, command, id);
    }

    @Override
    public void stop() {
        spout.close();
    }
}
