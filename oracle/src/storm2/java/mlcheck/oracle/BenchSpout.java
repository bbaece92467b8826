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

/** The real ShellSpout with its real collector, asked for the next tuple again and again. */
final class BenchSpout implements Bench.Run {
    private static final int BUCKETS = 2;

    private final ISpout spout;

    BenchSpout(StandInWorker worker) throws Exception {
        SpoutExecutor executor = (SpoutExecutor) worker.executor();
        Task task = StandInWorker.task(executor);
        Map<String, Object> conf = executor.getTopoConf();
        spout = (ISpout) task.getTaskObject();
        spout.open(conf, task.getUserContext(), new SpoutOutputCollector(
            new SpoutOutputCollectorImpl(spout, executor, task, new MutableLong(0), StormCommon.hasAckers(conf),
                new Random(), false, false, new RotatingMap<>(BUCKETS))));
        spout.activate();
    }

    @Override
    public Map<String, Object> measured(int times) {
        long[] taken = new long[times];
        for (int call = 0; call < times; call++) {
            long start = System.nanoTime();
            spout.nextTuple();
            taken[call] = System.nanoTime() - start;
        }
        return Map.of("nanoseconds", taken);
    }
}
