package mlcheck.javahost;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * The child's side of the multilang protocol. A thread reads all the time, so that task ids come to whoever waits for
 * them, and heartbeats are answered while a bolt works: a Java bolt that works is not dead to Storm either.
 */
final class Multilang {
    /** Messages that wait to be worked on, unless somebody waits for task ids behind them. */
    private static final int MOST_WAITING = 1000;

    private final BufferedReader in;
    private final BufferedWriter out;
    private final Deque<Map<String, Object>> inbox = new ArrayDeque<>();
    private final Deque<TaskIds> asked = new ArrayDeque<>();
    private int waitingForIds;
    private boolean over;
    private boolean listening;

    Multilang(InputStream in, OutputStream out) {
        this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        this.out = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    }

    /** Read the handshake; a thread reads the rest, from the first flush on. Returns null at the end of the input. */
    @SuppressWarnings("unchecked")
    Map<String, Object> handshake() throws IOException {
        return (Map<String, Object>) read();
    }

    /** The next message for the component; null at the end of the input. All that was said goes out before waiting. */
    Map<String, Object> next() throws InterruptedException, IOException {
        synchronized (inbox) {
            if (!inbox.isEmpty()) {
                inbox.notifyAll();
                return inbox.poll();
            }
        }
        flush();
        synchronized (inbox) {
            while (inbox.isEmpty() && !over) {
                inbox.wait();
            }
            inbox.notifyAll();
            return inbox.poll();
        }
    }

    void say(Map<String, Object> message) {
        synchronized (out) {
            write(message);
        }
    }

    /** Say an emit that asks for task ids, which come later. */
    List<Integer> ask(Map<String, Object> message) {
        TaskIds ids = new TaskIds(this);
        synchronized (out) {
            synchronized (inbox) {
                asked.add(ids);
            }
            write(message);
        }
        return ids;
    }

    /** Wait for task ids that were asked for. */
    List<Integer> await(TaskIds ids) {
        flush();
        synchronized (inbox) {
            waitingForIds++;
            inbox.notifyAll();
            try {
                while (ids.found == null && !over) {
                    inbox.wait();
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            } finally {
                waitingForIds--;
            }
            return ids.found == null ? List.of() : ids.found;
        }
    }

    void flush() {
        synchronized (out) {
            try {
                out.flush();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            if (!listening) {
                listening = true;
                Thread reader = new Thread(this::readAll, "multilang-reader");
                reader.setDaemon(true);
                reader.start();
            }
        }
    }

    private void write(Map<String, Object> message) {
        try {
            out.write(Json.write(message));
            out.write("\nend\n");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private Object read() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("end")) {
                return Json.parse(text.toString());
            }
            text.append(line).append('\n');
        }
        return null;
    }

    @SuppressWarnings("unchecked")
    private void readAll() {
        try {
            for (Object message = read(); message != null; message = read()) {
                if (message instanceof List<?> ids) {
                    resolve(ids);
                } else {
                    take((Map<String, Object>) message);
                }
            }
        } catch (IOException | InterruptedException | RuntimeException error) {
            error.printStackTrace();
        }
        synchronized (inbox) {
            over = true;
            inbox.notifyAll();
        }
    }

    private void resolve(List<?> ids) {
        synchronized (inbox) {
            TaskIds oldest = asked.poll();
            if (oldest != null) {
                oldest.found = ids.stream().map(each -> ((Number) each).intValue()).toList();
            }
            inbox.notifyAll();
        }
    }

    private void take(Map<String, Object> message) throws InterruptedException {
        if ("__heartbeat".equals(message.get("stream"))) {
            say(Map.of("command", "sync"));
            flush();
            return;
        }
        synchronized (inbox) {
            while (inbox.size() >= MOST_WAITING && waitingForIds == 0) {
                inbox.wait();
            }
            inbox.add(message);
            inbox.notifyAll();
        }
    }
}
