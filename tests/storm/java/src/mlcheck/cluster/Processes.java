package mlcheck.cluster;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The processes that components run in. */
final class Processes {
    private static final long GRACE_SECONDS = 3;

    private Processes() {
    }

    /** Those there are now, and what they started. */
    static List<ProcessHandle> all() {
        return ProcessHandle.current().descendants().toList();
    }

    /** Waits for them to end, and kills those that do not. Returns the command lines of the killed. */
    static List<String> end(List<ProcessHandle> alive) throws InterruptedException {
        CompletableFuture<?>[] exits = alive.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(exits).get(GRACE_SECONDS, TimeUnit.SECONDS);
            return List.of();
        } catch (TimeoutException | ExecutionException late) {
            List<ProcessHandle> left = alive.stream().filter(ProcessHandle::isAlive).toList();
            List<String> lines = left.stream().map(each -> each.info().commandLine().orElse("?")).toList();
            left.forEach(ProcessHandle::destroyForcibly);
            return lines;
        }
    }
}
