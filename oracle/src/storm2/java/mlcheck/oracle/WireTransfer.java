package mlcheck.oracle;

import java.util.Map;
import java.util.Queue;
import org.apache.storm.daemon.worker.WorkerState;
import org.apache.storm.executor.ExecutorTransfer;
import org.apache.storm.serialization.KryoTupleSerializer;
import org.apache.storm.tuple.AddressedTuple;

/**
 * Stands in for the queues: each tuple is serialized as for another worker and goes nowhere. An error is only noted: it
 * would strike if the receiver ran in another worker, and not otherwise.
 */
final class WireTransfer extends ExecutorTransfer {
    private final ThreadLocal<KryoTupleSerializer> serializer;

    WireTransfer(WorkerState worker, Map<String, Object> conf) {
        super(worker, conf);
        serializer = ThreadLocal.withInitial(() -> new KryoTupleSerializer(conf, worker.getWorkerTopologyContext()));
    }

    @Override
    public boolean tryTransfer(AddressedTuple tuple, Queue<AddressedTuple> pendingEmits) {
        try {
            serializer.get().serialize(tuple.getTuple());
        } catch (RuntimeException | StackOverflowError error) {
            Emits.wire(error);
        }
        return true;
    }
}
