package mlcheck.oracle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Real Storm as a host that is told what to say: {@code HostMain COMMAND...}, where COMMAND is the component's and the
 * environment variable MLCHECK_FEED names a file as schemas/feed.schema.json describes it. The topology is that of
 * {@link ExampleTopology}, whatever the file says. Ends on SIGTERM, or as a worker would.
 */
final class HostMain {
    private static final int WORKER_DIED = 11;
    private static final int TOLD_TO_END = 143;
    private static final long POLL_MS = 5;
    private static final long START_SECONDS = 5;

    private final Map<String, Object> feed;
    private final Recorder recorder = new Recorder(null);
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final Path folder;
    private volatile Component component;

    private HostMain(Map<String, Object> feed) throws IOException {
        this.feed = feed;
        this.folder = Files.createTempDirectory("oracle-");
    }

    @SuppressWarnings({"unchecked", "removal"}) // see ExitTrap
    public static void main(String[] command) throws Exception {
        Path file = Path.of(System.getenv("MLCHECK_FEED"));
        Object feed = Json.parse(Files.readString(file, StandardCharsets.UTF_8));
        Storm storm = Storm.load();
        LogTap.install(Main.COMPONENT, storm.loggers());
        System.setSecurityManager(new ExitTrap());
        new HostMain((Map<String, Object>) feed).host(storm, List.of(command));
    }

    private void host(Storm storm, List<String> command) throws Exception {
        CaseGroup group = new CaseGroup("host", recorder);
        // Storm's own hooks wait for minutes: this one makes an end of the JVM.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(group, TOLD_TO_END), "told to end"));
        new Thread(group, () -> work(storm, command), "executor").start();
        while (!recorder.rejected()) {
            Thread.sleep(POLL_MS);
        }
        end(group, WORKER_DIED);
    }

    /** Called outside of `group`, whose threads can't end the JVM. */
    private void end(CaseGroup group, int status) {
        try {
            // Storm's cleanup wants what its prepare makes last.
            if (started.await(START_SECONDS, TimeUnit.SECONDS)) {
                Thread stopper = new Thread(group, component::stop, "stopper");
                stopper.start();
                stopper.join(TimeUnit.SECONDS.toMillis(START_SECONDS));
            }
            Main.remove(folder);
        } catch (IOException | InterruptedException left) {
            // it lies among temporary files
        } finally {
            Runtime.getRuntime().halt(status);
        }
    }

    /** What the executor's thread does: an exception out of any call ends the worker. */
    private void work(Storm storm, List<String> command) {
        String phase = "start";
        try {
            boolean spout = "spout".equals(feed.get("kind"));
            component = spout ? storm.spout(command, folder, conf(), null) : storm.bolt(command, folder, conf(), null);
            try {
                component.start();
            } finally {
                started.countDown();
            }
            phase = spout ? "calls" : "execute";
            for (Map<String, Object> each : fed(spout ? "calls" : "tuples")) {
                if (spout) {
                    component.call((String) each.get("call"), id(each));
                } else {
                    component.execute(each);
                }
            }
            never.await();
        } catch (WorkerExit exit) {
            // recorded where it was caught
        } catch (Throwable error) {
            error.printStackTrace();
            recorder.thrown(phase, error);
        }
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> conf() {
        return (Map<String, Object>) feed.getOrDefault("conf", Map.of());
    }

    @SuppressWarnings("unchecked")
    private List<Map<String, Object>> fed(String what) {
        return (List<Map<String, Object>>) feed.getOrDefault(what, List.of());
    }

    /** The id that an ack or a fail names: that of the spout's emit with this number, with its own class. */
    private Object id(Map<String, Object> call) {
        return recorder.emittedId(((Long) call.getOrDefault("emit", 0L)).intValue());
    }
}
