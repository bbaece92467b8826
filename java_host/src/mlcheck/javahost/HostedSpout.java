package mlcheck.javahost;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;

/** A spout whose collector is the protocol's. It speaks only while it is asked: what others say meanwhile waits. */
final class HostedSpout implements ISpoutOutputCollector {
    private final ISpout spout;
    private final Multilang pipe;
    private final Values values;
    private final MessageIds ids = new MessageIds();
    private final Thread executor = Thread.currentThread();
    private final Deque<Map<String, Object>> later = new ArrayDeque<>();
    private boolean asked;

    HostedSpout(ISpout spout, Multilang pipe, Values values) {
        this.spout = spout;
        this.pipe = pipe;
        this.values = values;
    }

    void run(Map<String, Object> conf, TopologyContext context) throws Exception {
        spout.open(conf, context, new SpoutOutputCollector(this));
        for (Map<String, Object> message = pipe.next(); message != null; message = pipe.next()) {
            asked = true;
            sayWhatWaited();
            call((String) message.get("command"), message.get("id"));
            asked = false;
            pipe.say(Map.of("command", "sync"));
        }
        spout.close();
    }

    private void call(String command, Object id) {
        switch (command) {
            case "next" -> spout.nextTuple();
            case "ack" -> spout.ack(ids.acked(id));
            case "fail" -> spout.fail(ids.failed(id));
            case "activate" -> spout.activate();
            case "deactivate" -> spout.deactivate();
            default -> throw new IllegalArgumentException("no command of Storm's: " + command);
        }
    }

    @Override
    public List<Integer> emit(String stream, List<Object> tuple, Object messageId) {
        Map<String, Object> message = message(stream, tuple, messageId);
        if (mayspeak()) {
            return pipe.ask(message);
        }
        message.put("need_task_ids", false);
        wait(message);
        return List.of();
    }

    @Override
    public void emitDirect(int task, String stream, List<Object> tuple, Object messageId) {
        Map<String, Object> message = message(stream, tuple, messageId);
        message.put("task", task);
        message.put("need_task_ids", false);
        say(message);
    }

    private Map<String, Object> message(String stream, List<Object> tuple, Object messageId) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("command", "emit");
        if (messageId != null) {
            message.put("id", ids.emitted(messageId));
        }
        message.put("stream", stream);
        message.put("tuple", values.written(tuple));
        return message;
    }

    @Override
    public long getPendingCount() {
        return ids.pending();
    }

    @Override
    public void flush() {
        // All goes out with the next sync.
    }

    @Override
    public void reportError(Throwable error) {
        say(Map.of("command", "error", "msg", String.valueOf(error)));
    }

    private boolean mayspeak() {
        return asked && Thread.currentThread() == executor;
    }

    private void say(Map<String, Object> message) {
        if (mayspeak()) {
            pipe.say(message);
        } else {
            wait(message);
        }
    }

    private void wait(Map<String, Object> message) {
        synchronized (later) {
            later.add(message);
        }
    }

    private void sayWhatWaited() {
        synchronized (later) {
            later.forEach(pipe::say);
            later.clear();
        }
    }
}
