import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** A spout that emits sentences, and again those that failed. */
public final class SentenceSpout extends Storm.Spout {
    private static final List<String> SENTENCES = List.of(
            "the cow jumped over the moon", "an apple a day keeps the doctor away", "snow white and the seven dwarfs");

    private final Queue<String> waiting = new ArrayDeque<>();
    private final Map<String, String> pending = new HashMap<>();

    public static void main(String[] args) {
        new SentenceSpout().run();
    }

    @Override
    protected void initialize(Map<String, Object> conf, Map<String, Object> context) {
        for (String sentence : SENTENCES) {
            String id = Integer.toString(pending.size() + 1);
            waiting.add(id);
            pending.put(id, sentence);
        }
    }

    /** Emits one sentence. Because it has an id, Storm tells its fate: ack or fail. */
    @Override
    protected void nextTuple() throws Exception {
        String id = waiting.poll();
        if (id == null) {
            Thread.sleep(10); // do not let Storm ask again at full speed
            return;
        }
        emit(List.of(pending.get(id)), id(id));
    }

    @Override
    protected void ack(Object id) {
        pending.remove(id);
    }

    @Override
    protected void fail(Object id) {
        if (pending.containsKey(id)) {
            waiting.add((String) id);
        }
    }
}
