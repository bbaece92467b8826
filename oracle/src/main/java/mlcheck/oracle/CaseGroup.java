package mlcheck.oracle;

import java.util.Arrays;
import java.util.Set;

/**
 * The threads of one case. Storm starts threads of its own and has no handle for all of them; each belongs to the group
 * of the thread that started it, so what a late one does is never taken for another case's.
 */
final class CaseGroup extends ThreadGroup {
    private static final int SPARE = 16; // threads that may start between counting and listing
    private static final Set<String> PIPES = Set.of("java.io.FileInputStream", "java.io.FileOutputStream");

    private final Recorder recorder;

    CaseGroup(String name, Recorder recorder) {
        super(name);
        this.recorder = recorder;
    }

    Recorder recorder() {
        return recorder;
    }

    /** The group that the calling thread belongs to, null if it works for no case. */
    static CaseGroup current() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && !(group instanceof CaseGroup)) {
            group = group.getParent();
        }
        return (CaseGroup) group;
    }

    /**
     * True if a thread of the case has something to do: it neither sleeps nor waits for the component to read or write.
     * A busy machine, or classes that have to be loaded, can keep Storm from an event for longer than any quiet time.
     */
    boolean atWork() {
        Thread[] threads = new Thread[activeCount() + SPARE];
        int count = enumerate(threads);
        return Arrays.stream(threads, 0, count).anyMatch(CaseGroup::atWork);
    }

    private static boolean atWork(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        boolean inPipe = stack.length > 0 && PIPES.contains(stack[0].getClassName());
        return stack.length > 0 && thread.getState() == Thread.State.RUNNABLE && !inPipe;
    }

    /** A thread that Storm's death ended says nothing; anything else is a fault of the oracle and must be seen. */
    @Override
    public void uncaughtException(Thread thread, Throwable error) {
        if (!(error instanceof WorkerExit) && !recorder.rejected()) {
            super.uncaughtException(thread, error);
        }
    }
}
