package mlcheck.oracle;

/** Thrown in place of System.exit: the thread that wanted to end the worker goes no further. */
final class WorkerExit extends SecurityException {
    private static final long serialVersionUID = 1L;

    WorkerExit(int status) {
        super("System.exit(" + status + ")");
    }
}
