package mlcheck.oracle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the traced player says of itself, in a file beside the pipes: its pid, what it has read, the end of its steps.
 * oracle/traced_player.py writes it, one JSON value a line.
 */
final class Trace {
    private final Path file;
    private final List<Object> received = new ArrayList<>();
    private long pid = -1;
    private boolean done;
    private int linesRead;
    private long lastChange = System.nanoTime();

    Trace(Path file) {
        this.file = file;
    }

    /** Reads what is new. A line that is not whole yet waits for the next time. */
    void update() throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        String text = Files.readString(file, StandardCharsets.UTF_8);
        List<String> lines = text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        for (String line : lines.subList(linesRead, lines.size())) {
            Map<?, ?> entry = (Map<?, ?>) Json.parse(line);
            if (entry.containsKey("pid")) {
                pid = (Long) entry.get("pid");
            } else if (entry.containsKey("received")) {
                received.add(entry.get("received"));
            } else {
                done = true;
            }
            lastChange = System.nanoTime();
        }
        linesRead = lines.size();
    }

    /** What Storm sent after the handshake, as far as the component has read it. */
    List<Object> received() {
        return received;
    }

    /** The component's pid, null if it never got so far. */
    String pid() {
        return pid < 0 ? null : Long.toString(pid);
    }

    /** Nothing more is to be expected of the script: it has been played, or its process is gone. */
    boolean done() {
        return done || (pid >= 0 && ProcessHandle.of(pid).map(handle -> !handle.isAlive()).orElse(true));
    }

    long lastChange() {
        return lastChange;
    }

    /** Ends the component if it is still there. Storm's own end leaves one alone that ignores SIGTERM. */
    void kill() {
        if (pid >= 0) {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
