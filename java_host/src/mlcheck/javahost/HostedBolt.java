package mlcheck.javahost;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.task.IBolt;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.tuple.Tuple;

/** A bolt whose collector is the protocol's. */
final class HostedBolt implements IOutputCollector {
    private final IBolt bolt;
    private final TopologyContext context;
    private final Multilang pipe;
    private final Values values;
    private final Thread executor = Thread.currentThread();

    HostedBolt(IBolt bolt, TopologyContext context, Multilang pipe, Values values) {
        this.bolt = bolt;
        this.context = context;
        this.pipe = pipe;
        this.values = values;
    }

    void run(Map<String, Object> conf) throws Exception {
        bolt.prepare(conf, context, new OutputCollector(this));
        for (Map<String, Object> message = pipe.next(); message != null; message = pipe.next()) {
            bolt.execute(new HostedTuple(context, String.valueOf(message.get("id")),
                values.read((List<?>) message.get("tuple")), (String) message.get("comp"),
                ((Number) message.get("task")).intValue(), (String) message.get("stream")));
        }
        bolt.cleanup();
    }

    @Override
    public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> tuple) {
        List<Integer> ids = pipe.ask(message(stream, anchors, tuple));
        said();
        return ids;
    }

    @Override
    public void emitDirect(int task, String stream, Collection<Tuple> anchors, List<Object> tuple) {
        Map<String, Object> message = message(stream, anchors, tuple);
        message.put("task", task);
        message.put("need_task_ids", false);
        pipe.say(message);
        said();
    }

    private Map<String, Object> message(String stream, Collection<Tuple> anchors, List<Object> tuple) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("command", "emit");
        message.put("stream", stream);
        message.put("anchors", anchors == null ? List.of() : anchors.stream().map(HostedBolt::id).toList());
        message.put("tuple", values.written(tuple));
        return message;
    }

    @Override
    public void ack(Tuple input) {
        pipe.say(Map.of("command", "ack", "id", id(input)));
        said();
    }

    @Override
    public void fail(Tuple input) {
        pipe.say(Map.of("command", "fail", "id", id(input)));
        said();
    }

    @Override
    public void resetTimeout(Tuple input) {
        // The protocol has no word for it: such a tuple times out.
    }

    @Override
    public void flush() {
        pipe.flush();
    }

    @Override
    public void reportError(Throwable error) {
        pipe.say(Map.of("command", "error", "msg", String.valueOf(error)));
        said();
    }

    /** What other threads say goes out at once; what the executor says, before it waits for more. */
    private void said() {
        if (Thread.currentThread() != executor) {
            pipe.flush();
        }
    }

    private static String id(Tuple tuple) {
        return ((HostedTuple) tuple).id();
    }
}
