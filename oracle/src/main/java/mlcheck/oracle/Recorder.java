package mlcheck.oracle;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What Storm did in one case, in order, until the worker would have died: from then on nothing counts. Storm's threads
 * write it, the judge of the case reads it.
 */
public final class Recorder {
    private static final int STDERR_CHARS = 60;
    private static final int STDERR_KEPT = 1 << 16;
    private static final int WIRE_CHARS = 200;
    private static final List<String> ORDER = List.of("t", "call", "stream", "anchors", "tuple", "types", "direct",
            "to", "id", "id_type", "refused", "wire");

    private final List<Map<String, Object>> events = new ArrayList<>();
    private final List<Object> emittedIds = new ArrayList<>();
    private final String untilLog;
    private Throwable lastError;
    private String how;
    private Throwable fatal;
    private boolean ended;
    private long lastEvent = System.nanoTime();

    Recorder(String untilLog) {
        this.untilLog = untilLog;
    }

    /** The recorder of the case that the calling thread belongs to. */
    public static Recorder current() {
        CaseGroup group = CaseGroup.current();
        if (group == null) {
            throw new IllegalStateException("this thread belongs to no case: " + Thread.currentThread());
        }
        return group.recorder();
    }

    /** Adds an event of type `type` unless all is over; more keys may be put into it through {@link #put}. */
    public synchronized Map<String, Object> add(String type, Object... keysAndValues) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("t", type);
        for (int i = 0; i < keysAndValues.length; i += 2) {
            event.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        if (how == null) {
            events.add(event);
            lastEvent = System.nanoTime();
        }
        return event;
    }

    public synchronized void put(Map<String, Object> event, String key, Object value) {
        if (how == null) {
            event.put(key, value);
        }
    }

    /** An emit as it reaches the collector. `anchors` and `id` may be null, and so is `task` unless it is direct. */
    public synchronized Map<String, Object> emit(String stream, List<Integer> anchors, List<?> tuple, Integer task,
                                                 Object id) {
        Map<String, Object> event = add("emit", "stream", stream);
        if (anchors != null) {
            put(event, "anchors", anchors);
        }
        if (tuple != null) {
            put(event, "tuple", Shown.value(tuple));
            put(event, "types", Shown.types(tuple));
        }
        if (task != null) {
            put(event, "direct", task);
        }
        if (id != null) {
            put(event, "id", Shown.value(id));
            put(event, "id_type", Shown.type(id));
            emittedIds.add(id);
        }
        return event;
    }

    /** The error that the tuple of an emit meets on its way to another worker. */
    public void wire(Map<String, Object> event, Throwable error) {
        put(event, "wire", Shown.cut(Shown.masked(error.toString(), null), WIRE_CHARS));
    }

    public synchronized void error(Throwable error) {
        lastError = error;
        add("error", "error", error);
    }

    synchronized void log(String level, String text) {
        add("log", "level", level, "msg", text);
        if (text.equals(untilLog)) {
            ended = true;
        }
    }

    /** What the component wrote to stderr; pieces that follow each other make one event. */
    synchronized void stderr(String text) {
        Map<String, Object> last = events.isEmpty() ? Map.of() : events.get(events.size() - 1);
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (!"stderr".equals(last.get("t"))) {
            add("stderr", "text", text, "bytes", bytes);
        } else if (how == null) {
            String all = last.get("text") + text;
            last.put("text", all.substring(0, Math.min(all.length(), STDERR_KEPT)));
            last.put("bytes", (Integer) last.get("bytes") + bytes);
            lastEvent = System.nanoTime();
        }
    }

    /** The worker would end itself now. */
    synchronized void exit(int status) {
        finish("System.exit(" + status + ")", lastError);
    }

    /** An exception came out of a call that the executor makes: its handler ends the worker. */
    synchronized void thrown(String call, Throwable error) {
        finish("thrown from " + call, error);
    }

    private void finish(String howItEnded, Throwable error) {
        if (how == null) {
            how = howItEnded;
            fatal = error;
        }
    }

    /** The verdict has been read: what comes later belongs to no case. */
    synchronized void close() {
        finish("closed", null);
    }

    synchronized boolean rejected() {
        return how != null;
    }

    synchronized String how() {
        return how;
    }

    synchronized boolean ended() {
        return ended;
    }

    synchronized long lastEvent() {
        return lastEvent;
    }

    /** The id of the spout's emit number `index`, null if there was none. */
    synchronized Object emittedId(int index) {
        return index < emittedIds.size() ? emittedIds.get(index) : null;
    }

    synchronized List<String> fatal(String childPid) {
        return Shown.chain(fatal, childPid);
    }

    /** The events as verdicts show them. */
    synchronized List<Map<String, Object>> events(String childPid) {
        List<Map<String, Object>> shown = new ArrayList<>();
        for (Map<String, Object> event : events) {
            Map<String, Object> ordered = new LinkedHashMap<>();
            ORDER.stream().filter(event::containsKey).forEach(key -> ordered.put(key, event.get(key)));
            event.forEach(ordered::putIfAbsent);
            ordered.computeIfPresent("error", (key, error) -> Shown.chain((Throwable) error, childPid));
            ordered.computeIfPresent("text", (key, text) -> Shown.cut((String) text, STDERR_CHARS));
            shown.add(ordered);
        }
        return shown;
    }
}
