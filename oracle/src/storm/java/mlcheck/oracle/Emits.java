package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Carries out emits under their events, so that what becomes of them is written there. */
final class Emits {
    private static final ThreadLocal<Map<String, Object>> CURRENT = new ThreadLocal<>();

    private Emits() {
    }

    /** A plain emit: the tasks that got the tuple are noted and returned. */
    static List<Integer> plain(Recorder recorder, Map<String, Object> event, Supplier<List<Integer>> emit) {
        List<Integer> tasks = carryOut(recorder, event, emit);
        recorder.put(event, "to", List.copyOf(tasks));
        return tasks;
    }

    /** A direct emit: the event already names its task. */
    static void direct(Recorder recorder, Map<String, Object> event, Runnable emit) {
        carryOut(recorder, event, () -> {
            emit.run();
            return List.of();
        });
    }

    private static List<Integer> carryOut(Recorder recorder, Map<String, Object> event, Supplier<List<Integer>> emit) {
        Map<String, Object> outer = CURRENT.get();
        CURRENT.set(event);
        try {
            return emit.get();
        } catch (RuntimeException | Error refusal) {
            recorder.put(event, "refused", true);
            throw refusal;
        } finally {
            CURRENT.set(outer);
        }
    }

    /** Notes the error that a tuple of the emit under way would meet on its way to another worker. */
    static void wire(Throwable error) {
        if (CURRENT.get() != null) {
            Recorder.current().wire(CURRENT.get(), error);
        }
    }
}
