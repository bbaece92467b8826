package mlcheck.oracle;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.daemon.Task;
import org.apache.storm.executor.ExecutorTransfer;
import org.apache.storm.executor.bolt.BoltExecutor;
import org.apache.storm.executor.bolt.BoltOutputCollectorImpl;
import org.apache.storm.task.IBolt;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.AddressedTuple;
import org.apache.storm.tuple.MessageId;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.TupleImpl;
import org.apache.storm.utils.Utils;

/** The real ShellBolt with its real collector, groupings and tuples, fed; at most a thousand tuples are unacked. */
final class BenchBolt implements Bench.Run {
    private static final int WINDOW = 1000;
    /** Tuples are given, and places for new ones freed, by the hundred: a wake-up for each would be our cost. */
    private static final int PORTION = 100;
    private static final int LIMIT_SECONDS = 60;
    private static final double NANOSECONDS = 1e9;

    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final IBolt bolt;
    private final WorkerTopologyContext context;
    private final Random random = new Random();
    private final Semaphore free = new Semaphore(WINDOW);

    BenchBolt(StandInWorker worker) throws Exception {
        BoltExecutor executor = (BoltExecutor) worker.executor();
        executor.setLocalExecutorTransfer(new NoQueue(executor));
        Task task = StandInWorker.task(executor);
        Map<String, Object> conf = executor.getTopoConf();
        context = executor.getWorkerTopologyContext();
        bolt = (IBolt) task.getTaskObject();
        IOutputCollector real =
            new BoltOutputCollectorImpl(executor, task, random, false, StormCommon.hasAckers(conf), false);
        bolt.prepare(conf, task.getUserContext(), new OutputCollector(new AckCounter(real, free)));
    }

    @Override
    public Map<String, Object> measured(int times) throws InterruptedException {
        if (times % PORTION != 0) {
            throw new IllegalArgumentException(times + " tuples are no whole number of portions of " + PORTION);
        }
        long start = System.nanoTime();
        long cpu = process.getProcessCpuTime();
        for (int number = 0; number < times; number++) {
            if (number % PORTION == 0) {
                await(PORTION);
            }
            bolt.execute(tuple(number));
        }
        await(WINDOW);
        Map<String, Object> taken = Map.of("seconds", (System.nanoTime() - start) / NANOSECONDS,
            "cpu_seconds", (process.getProcessCpuTime() - cpu) / NANOSECONDS);
        free.release(WINDOW);
        return taken;
    }

    private void await(int places) throws InterruptedException {
        if (!free.tryAcquire(places, LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the bolt did not ack its tuples within " + LIMIT_SECONDS + " s");
        }
    }

    private Tuple tuple(int number) {
        List<Object> values = List.of("snow white", "and the seven dwarfs", (long) number, 0.5, false);
        return new TupleImpl(context, values, BenchTopology.SOURCE, BenchTopology.SOURCE_TASK, Utils.DEFAULT_STREAM_ID,
            MessageId.makeRootId(MessageId.generateId(random), MessageId.generateId(random)));
    }

    /** Counts acks on their way to the real collector. */
    private static final class AckCounter implements IOutputCollector {
        private final IOutputCollector real;
        private final Semaphore free;
        private int acks;

        AckCounter(IOutputCollector real, Semaphore free) {
            this.real = real;
            this.free = free;
        }

        @Override
        public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> tuple) {
            return real.emit(stream, anchors, tuple);
        }

        @Override
        public void ack(Tuple input) {
            real.ack(input);
            acks++;
            if (acks % PORTION == 0) {
                free.release(PORTION);
            }
        }

        @Override
        public void reportError(Throwable error) {
            error.printStackTrace();
        }

        @Override
        public void emitDirect(int task, String stream, Collection<Tuple> anchors, List<Object> tuple) {
            throw new UnsupportedOperationException("the bolt emits to no task directly");
        }

        @Override
        public void fail(Tuple input) {
            throw new UnsupportedOperationException("the bolt fails no tuple");
        }

        @Override
        public void resetTimeout(Tuple input) {
            throw new UnsupportedOperationException("no shell bolt asks for it");
        }

        @Override
        public void flush() {
            throw new UnsupportedOperationException("no shell bolt asks for it");
        }
    }

    /** Stands in for the queues: tuples go nowhere, unserialized as to a task of the same worker. */
    private static final class NoQueue extends ExecutorTransfer {
        NoQueue(BoltExecutor executor) {
            super(executor.getWorkerData(), executor.getTopoConf());
        }

        @Override
        public boolean tryTransfer(AddressedTuple tuple, Queue<AddressedTuple> pendingEmits) {
            return true;
        }
    }
}
