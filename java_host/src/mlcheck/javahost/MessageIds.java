package mlcheck.javahost;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Message ids of a spout, which may be any object, as text. Equal ones have the same text, also when what failed is
 * emitted again.
 */
final class MessageIds {
    private static final int MOST_FAILED = 100_000;

    private final Map<String, Object> waiting = new HashMap<>();
    private final Map<Object, String> texts = new HashMap<>();
    private final Map<Object, String> failed = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, String> eldest) {
            return size() > MOST_FAILED;
        }
    };
    private long last;

    synchronized String emitted(Object id) {
        String text = texts.get(id);
        if (text == null) {
            text = failed.remove(id);
        }
        if (text == null) {
            text = textOf(id);
        }
        texts.put(id, text);
        waiting.put(text, id);
        return text;
    }

    private String textOf(Object id) {
        if (id instanceof String || id instanceof Number || id instanceof UUID) {
            return id.toString();
        }
        return id.getClass().getSimpleName() + "-" + ++last;
    }

    synchronized Object acked(Object text) {
        Object id = waiting.remove(String.valueOf(text));
        texts.remove(id);
        return id;
    }

    synchronized Object failed(Object text) {
        Object id = waiting.remove(String.valueOf(text));
        texts.remove(id);
        if (id != null) {
            failed.put(id, String.valueOf(text));
        }
        return id;
    }

    synchronized long pending() {
        return waiting.size();
    }
}
