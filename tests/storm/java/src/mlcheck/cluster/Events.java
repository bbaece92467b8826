package mlcheck.cluster;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.shade.net.minidev.json.JSONValue;

/** What happens, one JSON object a line, on the standard output that the JVM was started with. */
final class Events {
    private static PrintStream out;

    private Events() {
    }

    /** Takes standard output for itself: whoever prints later prints to standard error. */
    static void open() {
        out = new PrintStream(System.out, false, java.nio.charset.StandardCharsets.UTF_8);
        System.setOut(System.err);
    }

    /** Writes an event of kind `what`, with further fields as name, value, name, value... */
    static synchronized void write(String what, Object... fields) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", what);
        for (int i = 0; i < fields.length; i += 2) {
            event.put((String) fields[i], fields[i + 1]);
        }
        out.print(JSONValue.toJSONString(event) + "\n");
        out.flush();
    }

    /** The exception and its causes, outermost first. */
    static List<String> chain(Throwable error) {
        List<String> texts = new ArrayList<>();
        for (Throwable each = error; each != null && texts.size() < 20; each = each.getCause()) {
            texts.add(each.toString());
        }
        return texts;
    }
}
