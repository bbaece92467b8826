package mlcheck.oracle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One case from its start to its verdict. */
final class CaseRun {
    private static final long POLL_MS = 4;

    private final Storm storm;
    private final Case script;
    private final List<String> player;
    private final Path folder;
    private final Recorder recorder;
    private final Trace trace;
    private volatile String phase;
    private volatile Component component;
    /** When the stage was set; loading Storm's classes counts for no limit. 0 before. */
    private volatile long began;
    private long lastWork;
    private volatile Throwable fault;

    /** `player`: the command of the traced player; the case's file and the trace's are added. `folder`: empty. */
    CaseRun(Storm storm, Case script, List<String> player, Path folder) {
        this.storm = storm;
        this.script = script;
        this.player = player;
        this.folder = folder;
        this.recorder = new Recorder(script.untilLog());
        this.trace = new Trace(folder.resolve("trace"));
    }

    /** Returns the verdict, as conformance/oracle/README.md describes it. */
    Map<String, Object> verdict() throws IOException, InterruptedException {
        CaseGroup group = new CaseGroup(script.name(), recorder);
        Thread executor = new Thread(group, this::work, "executor");
        executor.start();
        String limit = null;
        while (fault == null && !over(group, executor)) {
            if (began != 0 && elapsedMs(began) > script.limitMs()) {
                limit = executor.isAlive() ? "in " + phase : "quiet never came";
                break;
            }
            Thread.sleep(POLL_MS);
        }
        if (fault != null) {
            throw new IllegalStateException("the oracle could not set the stage for " + script.name(), fault);
        }
        trace.update();
        Map<String, Object> verdict = describe(executor.isAlive(), limit);
        stop(group, executor);
        return verdict;
    }

    private Map<String, Object> describe(boolean calling, String limit) {
        Map<String, Object> verdict = new LinkedHashMap<>();
        if (recorder.rejected()) {
            verdict.put("verdict", "rejected");
            verdict.put("how", recorder.how());
            verdict.put("error", recorder.fatal(trace.pid()));
        } else {
            verdict.put("verdict", limit != null && calling ? "hung" : "accepted");
            if (limit != null) {
                verdict.put("limit_reached", limit);
            }
        }
        verdict.put("events", recorder.events(trace.pid()));
        verdict.put("received", List.copyOf(trace.received()));
        return verdict;
    }

    private boolean over(CaseGroup group, Thread executor) throws IOException {
        if (recorder.rejected() || recorder.ended()) {
            return true;
        }
        trace.update();
        if (group.atWork()) {
            lastWork = System.nanoTime();
        }
        long last = Math.max(lastWork, Math.max(recorder.lastEvent(), trace.lastChange()));
        return began != 0 && !executor.isAlive() && trace.done() && elapsedMs(began) >= script.holdMs()
                && elapsedMs(last) >= script.quietMs();
    }

    /** What the executor's thread does: an exception out of any call ends the worker. */
    private void work() {
        try {
            List<String> command = new ArrayList<>(player);
            command.add(Files.writeString(folder.resolve("case.json"), Json.write(script.fields())).toString());
            command.add(folder.resolve("trace").toString());
            component = script.isSpout()
                    ? storm.spout(command, folder, script.conf(), script.heartbeatSeconds())
                    : storm.bolt(command, folder, script.conf(), script.heartbeatSeconds());
        } catch (Exception | LinkageError error) {
            fault = error;
            return;
        }
        try {
            phase = script.isSpout() ? "open" : "prepare";
            began = System.nanoTime();
            component.start();
            if (script.isSpout()) {
                callSpout();
            } else {
                feedBolt();
            }
        } catch (WorkerExit exit) {
            // recorded where it was caught
        } catch (InterruptedException stopped) {
            // the case is over
        } catch (Throwable error) {
            recorder.thrown(phase, error);
        }
    }

    private void feedBolt() throws Exception {
        phase = "execute";
        for (Map<String, Object> tuple : script.tuples()) {
            Thread.sleep((Long) tuple.getOrDefault("after_ms", 0L));
            for (long left = (Long) tuple.getOrDefault("times", 1L); left > 0; left--) {
                component.execute(tuple);
            }
        }
    }

    private void callSpout() throws Exception {
        for (String call : script.calls()) {
            String[] parts = call.split(":", 2);
            phase = call;
            if (parts[0].equals("sleep")) {
                Thread.sleep(Long.parseLong(parts[1]));
                continue;
            }
            component.call(parts[0], parts.length > 1 ? id(parts[1]) : null);
            recorder.add("returned", "call", call);
        }
    }

    /** The id that an ack or a fail names: its text, or $N, the id of the spout's emit number N with its own class. */
    private Object id(String text) {
        return text.matches("\\$[0-9]+") ? recorder.emittedId(Integer.parseInt(text.substring(1))) : text;
    }

    private void stop(CaseGroup group, Thread executor) throws InterruptedException {
        recorder.close();
        trace.kill();
        if (component != null) {
            Thread stopper = new Thread(group, component::stop, "stopper");
            stopper.start();
            stopper.join(TimeUnit.SECONDS.toMillis(1));
        }
        group.interrupt();
        executor.join(TimeUnit.SECONDS.toMillis(1));
    }

    private static long elapsedMs(long since) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
    }
}
