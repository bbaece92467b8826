import com.google.gson.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/**
 * Apache Storm's multilang protocol, for components that Storm starts as subprocesses: extend {@link Bolt}, {@link BasicBolt}
 * or {@link Spout}, and call {@link #run}. A message is JSON in UTF-8, a newline, and a line "end", on stdin and stdout.
 * A value is null, a Boolean, Long, Double, String, List or Map. What is printed to System.out goes to stderr. Use all this
 * in the thread that Storm's calls come in.
 */
public abstract class Storm {
    /** What a bolt is given. A tick has the component "__system" and the stream "__tick". */
    public record Tuple(String id, String component, String stream, long task, List<Object> values) {}

    /** More about an emit, as in {@code emit(List.of("word"), anchors(tuple), stream("words"))}. */
    public interface Option { void put(Map<String, Object> message); }

    private static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();
    private BufferedReader in;
    private PrintStream out;

    /** Called once, before anything else. */
    protected void initialize(Map<String, Object> conf, Map<String, Object> context) throws Exception {}

    /** Does what Storm asks for in the next message. */
    abstract void turn() throws IOException;

    /** Takes what comes while task ids are awaited. */
    abstract void meanwhile(Map<String, Object> message);

    /** Works until Storm closes the pipe. Then the process ends, whatever other threads do. */
    public final void run() {
        in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out = System.out;
        System.setOut(System.err); // stdout belongs to the protocol: a stray println would break it
        try {
            Map<String, Object> hello = map(next());
            long pid = ProcessHandle.current().pid();
            Files.createFile(Path.of((String) hello.get("pidDir"), Long.toString(pid)));
            send(Map.of("pid", pid));
            initialize(map(hello.get("conf")), map(hello.get("context")));
            while (true) {
                turn();
            }
        } catch (Throwable thrown) {
            reportError(thrown);
            System.exit(1);
        }
    }

    /** Sends a tuple on; returns the tasks that get it if {@link #taskIds} asks for them, else null. */
    protected final List<Long> emit(List<?> values, Option... options) throws IOException {
        Map<String, Object> message = new HashMap<>(Map.of("command", "emit", "tuple", values, "need_task_ids", false));
        always().put(message);
        List.of(options).forEach(option -> option.put(message));
        boolean wanted = message.get("need_task_ids").equals(true) && !message.containsKey("task");
        message.put("need_task_ids", wanted); // a direct emit has no answer
        send(message);
        Object answer = null;
        while (wanted && !((answer = next()) instanceof List)) {
            meanwhile(map(answer));
        }
        return (List<Long>) answer;
    }

    Option always() { return message -> {}; }

    /** On this stream, not on the default one. */
    public static Option stream(String name) { return m -> m.put("stream", name); }
    /** Bolts: if what is emitted is lost, these tuples are replayed. Ack them after the emit. */
    public static Option anchors(Tuple... all) { return m -> m.put("anchors", Arrays.stream(all).map(Tuple::id).toList()); }
    /** Spouts: what ack or fail is to be called with, a value of any JSON type. */
    public static Option id(Object id) { return m -> m.put("id", id); }
    /** To this one task, on a direct stream. */
    public static Option task(long task) { return m -> m.put("task", task); }
    /** Wait for the ids of the tasks that get it. */
    public static Option taskIds() { return m -> m.put("need_task_ids", true); }

    /** Writes to the worker's log; levels 0 to 4 are trace, debug, info, warn and error. */
    protected final void log(String text, int level) { send(Map.of("command", "log", "msg", text, "level", level)); }

    /** Shows a text in Storm's UI; fails no tuple and stops nothing. */
    protected final void reportError(String text) { send(Map.of("command", "error", "msg", text)); }

    final void reportError(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        reportError(text.toString());
    }

    /** Reads a message; answers heartbeats, which are no tuples and must not be acked. */
    final Object next() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String line = in.readLine(); !"end".equals(line); line = in.readLine()) {
            if (line == null) {
                System.exit(0); // Storm has closed the pipe: the worker is gone
            }
            text.append(line).append('\n');
        }
        Object message = JSON.fromJson(text.toString(), Object.class);
        if (message instanceof Map<?, ?> m && "__heartbeat".equals(m.get("stream")) && m.get("task").equals(-1L)) {
            send(Map.of("command", "sync"));
            return next();
        }
        return message;
    }

    /** Writes a message at once and whole. */
    final void send(Map<String, Object> message) {
        out.writeBytes((JSON.toJson(message) + "\nend\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    static Map<String, Object> map(Object value) { return (Map<String, Object>) value; }

    /** A bolt acks or fails each tuple exactly once, now or later. After an exception the tuple is failed. */
    public abstract static class Bolt extends Storm {
        private final Queue<Map<String, Object>> waiting = new ArrayDeque<>();
        private final Set<String> open = new HashSet<>();

        protected abstract void process(Tuple tuple) throws Exception;

        /** Ack says that the work on a tuple is done, fail has Storm replay it. A second time would end Storm's worker. */
        protected final void ack(Tuple tuple) { settle("ack", tuple); }
        protected final void fail(Tuple tuple) { settle("fail", tuple); }

        private void settle(String command, Tuple tuple) {
            if (!open.remove(tuple.id())) {
                throw new IllegalStateException("cannot " + command + " tuple " + tuple.id() + ": it is settled already");
            }
            send(Map.of("command", command, "id", tuple.id()));
        }

        final void meanwhile(Map<String, Object> message) { waiting.add(message); }

        final void turn() throws IOException {
            Map<String, Object> m = waiting.isEmpty() ? map(next()) : waiting.remove();
            Tuple tuple = new Tuple((String) m.get("id"), (String) m.get("comp"), (String) m.get("stream"),
                    (Long) m.get("task"), (List<Object>) m.get("tuple"));
            open.add(tuple.id());
            try {
                work(tuple);
            } catch (Exception thrown) {
                reportError(thrown);
                if (open.contains(tuple.id())) {
                    fail(tuple);
                }
            }
        }

        void work(Tuple tuple) throws Exception { process(tuple); }
    }

    /** A bolt whose emits are anchored to the tuple in process; that is acked when {@link #process} returns. */
    public abstract static class BasicBolt extends Bolt {
        private Tuple input;

        final Option always() { return anchors(input); }

        final void work(Tuple tuple) throws Exception {
            input = tuple;
            process(tuple);
            ack(tuple);
        }
    }

    /** A spout answers Storm's calls. Each may emit; what it throws is reported. */
    public abstract static class Spout extends Storm {
        /** Emits a tuple or a few, and returns soon; sleeps a little if there is nothing. */
        protected abstract void nextTuple() throws Exception;

        protected void ack(Object id) throws Exception {}
        protected void fail(Object id) throws Exception {}
        protected void activate() throws Exception {}
        protected void deactivate() throws Exception {}

        final void turn() throws IOException { meanwhile(map(next())); }

        final void meanwhile(Map<String, Object> message) { // without ackers, Storm calls ack from within an emit
            try {
                switch ((String) message.get("command")) {
                    case "next" -> nextTuple();
                    case "ack" -> ack(message.get("id"));
                    case "fail" -> fail(message.get("id"));
                    case "activate" -> activate();
                    case "deactivate" -> deactivate();
                }
            } catch (Exception thrown) {
                reportError(thrown);
            }
            send(Map.of("command", "sync")); // exactly one, whatever happened: Storm waits for it
        }
    }
}
