import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. The library does not
 * know of them: they stand between it and the pipes.
 */
final class Mutants {
    private Mutants() {}

    /** Plants the bug of this name, none for "". */
    static void plant(String name) throws IOException {
        switch (name) {
            case "" -> { }
            case "ack-twice" -> out(only("ack", m -> List.of(m, m)));
            case "ack-id-number" -> out(field("ack", "id", id -> new BigInteger((String) id)));
            case "fail-as-ack" -> out(field("fail", "command", old -> "ack"));
            case "anchors-missing" -> out(field("emit", "anchors", old -> List.of()));
            case "anchors-nested" -> out(field("emit", "anchors", List::of));
            case "anchors-undefined" -> out(field("emit", "anchors", old -> Arrays.asList((Object) null)));
            case "tuple-object" -> out(field("emit", "tuple", old -> Map.of("values", old)));
            case "task-string" -> out(field("emit", "task", Object::toString));
            case "log-map" -> out(field("log", "msg", old -> Map.of("text", old)));
            case "message-id-text" -> out(field("emit", "id", Object::toString));
            case "integer-double" -> out(values(old -> old instanceof Long number ? number.doubleValue() : old));
            case "null-missing" -> out(field("emit", "tuple", old -> ((List<?>) old).stream().filter(Objects::nonNull).toList()));
            case "emit-unencodable" -> out(only("emit", m -> isPlain(m) ? List.of(m) : List.of()));
            case "text-cesu" -> System.setOut(new Pipes.Cesu(System.out));
            case "held-back" -> out(heldBack());
            case "emits-last" -> out(emitsLast());
            case "mixed" -> out(mixed());
            case "line-ends" -> out(m -> List.of(Pipes.JSON.toJson(m) + "\r\nend \r\n"));
            case "sync-twice" -> out(only("sync", m -> List.of(m, m)));
            case "prints" -> out(m -> List.of("sent " + m.get("command") + "\n", m));
            case "late-pid" -> out(m -> m.containsKey("pid") ? List.of(Map.of("command", "log", "msg", "starting"), m) : List.of(m));
            case "pid-string" -> out(field(null, "pid", old -> old + "@host"));
            case "raise-acked" -> out(afterAnError(field("fail", "command", old -> "ack")));
            case "fails-other" -> out(afterAnError(field("fail", "id", old -> "-1")));
            case "conf-wrong-key" -> in(field(null, "conf", old -> Map.of()));
            case "no-pid-file" -> noPidFile();
            case "beats-ignored" -> in(m -> isBeat(m) ? List.of() : List.of(m));
            case "beats-acked" -> in(field(null, "stream", old -> old.equals("__heartbeat") ? "__tick" : old));
            case "beats-when-idle" -> onlyWhenIdle();
            case "direct-waits" -> directWaits();
            case "ids-of-before" -> in(idsOfBefore());
            case "ids-drop-others" -> idsDropOthers();
            case "silent-ack" -> silentAfter(List.of("ack", "fail"));
            case "silent-activate" -> silentAfter(List.of("activate", "deactivate"));
            case "swapped" -> in(Mutants::swapped);
            case "default-charset" -> System.setIn(new Pipes.DefaultCharset(System.in));
            case "outlives" -> System.setIn(new Pipes.Endless(System.in));
            case "thread-stays" -> Runtime.getRuntime().addShutdownHook(new Thread(Pipes::linger));
            case "stderr-unread" -> System.setErr(new PrintStream(new PipedOutputStream(new PipedInputStream(1000)), true));
            case "stderr-flood" -> out(only("sync", Mutants::flooding));
            default -> throw new IllegalArgumentException("no such mutant: " + name);
        }
    }

    private static void in(Pipes.Change change) {
        System.setIn(new Pipes.Input(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), change));
    }

    private static void out(Pipes.Change change) {
        System.setOut(new PrintStream(new Pipes.Output(System.out, change)));
    }

    /** Changes the messages with one command. */
    private static Pipes.Change only(String command, Pipes.Change change) {
        return m -> command.equals(m.get("command")) ? change.of(m) : List.of(m);
    }

    /** Changes a field, where there is one, of the messages with one command; of all for null. */
    private static Pipes.Change field(String command, String key, UnaryOperator<Object> change) {
        return m -> {
            if (m.get(key) != null && (command == null || command.equals(m.get("command")))) {
                m.put(key, change.apply(m.get(key)));
            }
            return List.of(m);
        };
    }

    /** Changes each value of an emit. */
    private static Pipes.Change values(UnaryOperator<Object> change) {
        return field("emit", "tuple", old -> new ArrayList<>(((List<?>) old).stream().map((Function<Object, Object>) change).toList()));
    }

    private static boolean isPlain(Object value) {
        return Pipes.JSON.toJson(value).chars().allMatch(each -> each < 128);
    }

    private static boolean isBeat(Map<String, Object> m) {
        return "__heartbeat".equals(m.get("stream"));
    }

    /** Changes the fail that follows an error. */
    private static Pipes.Change afterAnError(Pipes.Change change) {
        boolean[] failed = {false};
        return m -> {
            boolean now = failed[0] && "fail".equals(m.get("command"));
            failed[0] = "error".equals(m.get("command"));
            return now ? change.of(m) : List.of(m);
        };
    }

    /** Each message waits for the next one, as in a buffer that nobody flushes. */
    private static Pipes.Change heldBack() {
        List<Object> kept = new ArrayList<>();
        return m -> {
            if (m.containsKey("pid")) {
                return List.of(m);
            }
            List<Object> now = List.copyOf(kept);
            kept.clear();
            kept.add(m);
            return now;
        };
    }

    /** Emits go out after the next message that is none. */
    private static Pipes.Change emitsLast() {
        List<Object> kept = new ArrayList<>();
        return m -> {
            if ("emit".equals(m.get("command"))) {
                kept.add(m);
                return List.of();
            }
            List<Object> now = new ArrayList<>(List.of(m));
            now.addAll(kept);
            kept.clear();
            return now;
        };
    }

    /** Two threads write at once, without a lock. */
    private static Pipes.Change mixed() {
        List<String> kept = new ArrayList<>();
        return m -> {
            kept.add(Pipes.JSON.toJson(m));
            if (m.containsKey("pid")) {
                kept.clear();
                return List.of(m);
            }
            if (kept.size() < 2) {
                return List.of();
            }
            int half = kept.get(0).length() / 2;
            String both = kept.get(0).substring(0, half) + kept.get(1) + kept.get(0).substring(half) + "\nend\nend\n";
            kept.clear();
            return List.of(both);
        };
    }

    /** Answers no heartbeat while tuples are open. */
    private static void onlyWhenIdle() {
        int[] open = {0};
        in(m -> {
            if (isBeat(m) && open[0] > 0) {
                return List.of();
            }
            open[0] += m.containsKey("tuple") && !isBeat(m) ? 1 : 0;
            return List.of(m);
        });
        out(m -> {
            open[0] -= List.of("ack", "fail").contains(m.getOrDefault("command", "")) ? 1 : 0;
            return List.of(m);
        });
    }

    /** Takes nothing after a direct emit until task ids come. */
    private static void directWaits() {
        int[] waiting = {0};
        List<Object> kept = new ArrayList<>();
        out(m -> {
            waiting[0] += m.containsKey("task") ? 1 : 0;
            return List.of(m);
        });
        in(m -> {
            if (waiting[0] == 0) {
                return List.of(m);
            }
            if (!m.containsKey("ids")) {
                kept.add(m);
                return List.of();
            }
            waiting[0]--;
            List<Object> now = List.copyOf(kept);
            kept.clear();
            return now;
        });
    }

    /** Gives the task ids of the emit before. */
    private static Pipes.Change idsOfBefore() {
        List<Object> before = new ArrayList<>(List.of(Map.of("ids", List.of())));
        return m -> {
            if (!m.containsKey("ids")) {
                return List.of(m);
            }
            before.add(m);
            return List.of(before.remove(0));
        };
    }

    /** Loses what comes while task ids are awaited. */
    private static void idsDropOthers() {
        boolean[] awaited = {false};
        out(m -> {
            awaited[0] = awaited[0] || Boolean.TRUE.equals(m.get("need_task_ids"));
            return List.of(m);
        });
        in(m -> {
            if (awaited[0] && !m.containsKey("ids")) {
                return List.of();
            }
            awaited[0] = false;
            return List.of(m);
        });
    }

    /** Gives no sync after these commands. */
    private static void silentAfter(List<String> commands) {
        boolean[] silent = {false};
        in(m -> {
            silent[0] = commands.contains(m.getOrDefault("command", ""));
            return List.of(m);
        });
        out(only("sync", m -> silent[0] ? List.of() : List.of(m)));
    }

    /** Takes the file away before anybody looks for it. */
    private static void noPidFile() {
        Path[] folder = {null};
        in(field(null, "pidDir", old -> {
            folder[0] = Path.of((String) old);
            return old;
        }));
        out(field(null, "pid", old -> {
            folder[0].resolve(old.toString()).toFile().delete();
            return old;
        }));
    }

    private static List<Object> swapped(Map<String, Object> m) {
        m.computeIfPresent("command", (key, old) -> old.equals("ack") ? "fail" : old.equals("fail") ? "ack" : old);
        return List.of(m);
    }

    private static List<Object> flooding(Map<String, Object> m) {
        System.err.print(".".repeat(100_000));
        return List.of(m);
    }
}
