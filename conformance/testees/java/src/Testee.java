import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** The testee of Storm.java: does what a tuple or conf tells it (see ../../README.md). */
public final class Testee {
    private static final List<String> LEVELS = List.of("trace", "debug", "info", "warn", "error");

    private Testee() {}

    public static void main(String[] args) throws Exception {
        Mutants.plant(System.getenv().getOrDefault("MLCHECK_MUTANT", ""));
        Storm component = switch (args[0]) {
            case "bolt" -> new PlainBolt();
            case "basic" -> new BasicBolt();
            default -> new Spout();
        };
        component.run();
    }

    /** An emit that the library does. */
    private interface Emit {
        List<Long> with(List<?> values, Storm.Option... options) throws IOException;
    }

    /** What bolts and spouts have in common. */
    private static final class Plan {
        final Emit emit;
        final Map<String, Object> seen = new HashMap<>();

        Plan(Emit emit, Map<String, Object> conf, Map<String, Object> context) {
            this.emit = emit;
            seen.put("conf", conf);
            seen.put("context", context);
            seen.put("task_ids", List.of());
        }

        /** Does what is the same in a bolt and in a spout. */
        void act(Storm storm, Map<String, Object> action) throws Exception {
            Object message = action.get("message");
            switch ((String) action.get("do")) {
                case "log" -> storm.log((String) message, LEVELS.indexOf(action.getOrDefault("level", "info")));
                case "error" -> storm.reportError((String) message);
                case "raise" -> throw new IllegalArgumentException((String) message);
                case "sleep" -> Thread.sleep((long) (1000 * ((Number) action.get("seconds")).doubleValue()));
                case "exit" -> System.exit(((Number) action.get("code")).intValue());
                case "print" -> System.out.println(action.get("text"));
                case "stderr" -> System.err.print(".".repeat(((Number) action.get("bytes")).intValue()));
                default -> throw new IllegalArgumentException("no such action: " + action);
            }
        }

        void emit(Map<String, Object> action, Storm.Option... more) throws IOException {
            List<Storm.Option> options = new ArrayList<>(Arrays.asList(more));
            if (action.containsKey("stream")) {
                options.add(Storm.stream((String) action.get("stream")));
            }
            if (action.containsKey("task")) {
                options.add(Storm.task((Long) action.get("task")));
            }
            if (action.containsKey("id")) {
                options.add(Storm.id(action.get("id")));
            }
            if (Boolean.TRUE.equals(action.get("ids"))) {
                options.add(Storm.taskIds());
            }
            List<Long> ids = emit.with((List<?>) action.get("values"), options.toArray(new Storm.Option[0]));
            if (ids != null) {
                seen.put("task_ids", ids);
            }
        }

        void tell(Object what) throws IOException {
            emit.with(Arrays.asList(what, seen.get(what)), Storm.stream("told"));
        }
    }

    /** The plan in a tuple's first value; without one: an echo, or for a tick an ack. */
    private static List<Map<String, Object>> planOf(Storm.Tuple tuple) {
        if (tuple.stream().equals("__tick")) {
            return List.of(Map.of("do", "ack"));
        }
        Object first = tuple.values().isEmpty() ? null : tuple.values().get(0);
        boolean planned = first instanceof List<?> list && !list.isEmpty()
                && list.stream().allMatch(each -> each instanceof Map<?, ?> map && map.containsKey("do"));
        if (planned) {
            return (List<Map<String, Object>>) first;
        }
        return List.of(Map.of("do", "emit", "values", tuple.values()), Map.of("do", "ack"));
    }

    /** What is told of a tuple. */
    private static Map<String, Object> seen(Storm.Tuple tuple) {
        Map<String, Object> seen = new HashMap<>(Map.of("id", tuple.id(), "stream", tuple.stream(), "task", tuple.task()));
        seen.put("component", tuple.component());
        seen.put("values", tuple.values());
        return seen;
    }

    /** Settles as it is told. */
    private static final class PlainBolt extends Storm.Bolt {
        private final Map<String, Tuple> held = new HashMap<>();
        private Plan plan;

        @Override
        protected void initialize(Map<String, Object> conf, Map<String, Object> context) {
            plan = new Plan(this::emit, conf, context);
        }

        @Override
        protected void process(Tuple tuple) throws Exception {
            held.put("input", tuple);
            plan.seen.put("tuple", seen(tuple));
            for (Map<String, Object> action : planOf(tuple)) {
                act(action, tuple);
            }
        }

        private void act(Map<String, Object> action, Tuple tuple) throws Exception {
            Tuple named = held.get(action.getOrDefault("tuple", "input"));
            switch ((String) action.get("do")) {
                case "emit" -> plan.emit(action, named((List<?>) action.getOrDefault("anchors", List.of("input"))));
                case "echo" -> emit(tuple.values().subList(1, tuple.values().size()), anchors(tuple));
                case "ack" -> ack(named);
                case "fail" -> fail(named);
                case "hold" -> held.put((String) action.get("as"), tuple);
                case "tell" -> plan.tell(action.get("what"));
                default -> plan.act(this, action);
            }
        }

        private Option named(List<?> names) {
            return anchors(names.stream().map(held::get).toArray(Tuple[]::new));
        }
    }

    /** Its library anchors and acks. */
    private static final class BasicBolt extends Storm.BasicBolt {
        private Plan plan;

        @Override
        protected void initialize(Map<String, Object> conf, Map<String, Object> context) {
            plan = new Plan(this::emit, conf, context);
        }

        @Override
        protected void process(Tuple tuple) throws Exception {
            plan.seen.put("tuple", seen(tuple));
            for (Map<String, Object> action : planOf(tuple)) {
                switch ((String) action.get("do")) {
                    case "emit" -> plan.emit(action);
                    case "echo" -> emit(tuple.values().subList(1, tuple.values().size()));
                    case "ack" -> { }
                    case "tell" -> plan.tell(action.get("what"));
                    default -> plan.act(this, action);
                }
            }
        }
    }

    /** Does for each command what conf says. */
    private static final class Spout extends Storm.Spout {
        private final Queue<String> again = new ArrayDeque<>();
        private Plan plan;
        private Map<String, Object> planned;
        private List<List<Object>> calls = new ArrayList<>();
        private int count;

        @Override
        protected void initialize(Map<String, Object> conf, Map<String, Object> context) throws Exception {
            plan = new Plan(this::emit, conf, context);
            planned = (Map<String, Object>) conf.get("mlcheck.testee");
            follow("initialize");
        }

        private void follow(String command) throws Exception {
            List<?> actions = planned == null ? List.of() : (List<?>) planned.getOrDefault(command, List.of());
            if (command.equals("next") && planned != null) {
                actions = count < actions.size() ? (List<?>) actions.get(count) : List.of();
                count++;
            }
            for (Object each : actions) {
                Map<String, Object> action = (Map<String, Object>) each;
                switch ((String) action.get("do")) {
                    case "emit" -> plan.emit(action);
                    case "tell" -> tell(action.get("what"));
                    default -> plan.act(this, action);
                }
            }
        }

        private void tell(Object what) throws IOException {
            plan.seen.put("calls", calls);
            plan.tell(what);
            if (what.equals("calls")) {
                calls = new ArrayList<>();
            }
        }

        /** Remembers a call, and does what conf says about it. */
        private void called(Object... call) throws Exception {
            calls.add(Arrays.asList(call));
            follow((String) call[0]);
        }

        @Override
        protected void nextTuple() throws Exception {
            called("next");
            if (planned == null) {
                String id = again.isEmpty() ? Integer.toString(++count) : again.remove();
                emit(List.of("word " + id), id(id));
            }
        }

        @Override
        protected void ack(Object id) throws Exception {
            called("ack", id);
        }

        @Override
        protected void fail(Object id) throws Exception {
            called("fail", id);
            if (planned == null && id instanceof String text) {
                again.add(text);
            }
        }

        @Override
        protected void activate() throws Exception {
            called("activate");
        }

        @Override
        protected void deactivate() throws Exception {
            called("deactivate");
        }
    }
}
