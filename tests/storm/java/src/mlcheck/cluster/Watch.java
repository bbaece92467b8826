package mlcheck.cluster;

import java.util.Map;
import org.apache.storm.hooks.BaseTaskHook;
import org.apache.storm.hooks.info.BoltAckInfo;
import org.apache.storm.hooks.info.BoltExecuteInfo;
import org.apache.storm.hooks.info.BoltFailInfo;
import org.apache.storm.hooks.info.EmitInfo;
import org.apache.storm.hooks.info.SpoutAckInfo;
import org.apache.storm.hooks.info.SpoutFailInfo;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.utils.Utils;

/**
 * Storm's own hook, one for each task of a component: writes down what its executor does, and when, in nanoseconds of
 * the system's monotonic clock. Writing takes time: with -Dcluster.watch=spouts it leaves bolts alone, and with
 * -Dcluster.acks=1000 it writes down the first ack of each spout task and each 1000th, with their number, and no more.
 */
public final class Watch extends BaseTaskHook {
    private static final boolean SPOUTS_ONLY = "spouts".equals(System.getProperty("cluster.watch"));

    private static final int ACKS = Integer.getInteger("cluster.acks", 0);

    private long acked;
    private boolean silent;
    private String component;
    private int task;

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context) {
        component = context.getThisComponentId();
        task = context.getThisTaskId();
        silent = Utils.isSystemId(component)
            || SPOUTS_ONLY && !context.getRawTopology().get_spouts().containsKey(component);
    }

    @Override
    public void emit(EmitInfo info) {
        if (ACKS == 0 && !Utils.isSystemId(info.stream)) {
            write("emit", "stream", info.stream, "values", info.values, "to", info.outTasks);
        }
    }

    @Override
    public void boltExecute(BoltExecuteInfo info) {
        writeTuple("execute", info.tuple);
    }

    @Override
    public void boltAck(BoltAckInfo info) {
        writeTuple("bolt-ack", info.tuple);
    }

    @Override
    public void boltFail(BoltFailInfo info) {
        writeTuple("bolt-fail", info.tuple);
    }

    @Override
    public void spoutAck(SpoutAckInfo info) {
        acked++;
        if (ACKS == 0) {
            write("ack", "id", info.messageId);
        } else if (acked == 1 || acked % ACKS == 0) {
            write("ack", "acked", acked);
        }
    }

    @Override
    public void spoutFail(SpoutFailInfo info) {
        write("fail", "id", info.messageId);
    }

    private void writeTuple(String what, Tuple tuple) {
        if (ACKS == 0 && !Utils.isSystemId(tuple.getSourceStreamId())) {
            write(what, "source", tuple.getSourceComponent(), "stream", tuple.getSourceStreamId(),
                "values", tuple.getValues());
        }
    }

    private void write(String what, Object... fields) {
        if (silent) {
            return;
        }
        Object[] all = new Object[fields.length + 6];
        all[0] = "component";
        all[1] = component;
        all[2] = "task";
        all[3] = task;
        all[4] = "nanos";
        all[5] = System.nanoTime();
        System.arraycopy(fields, 0, all, 6, fields.length);
        Events.write(what, all);
    }
}
