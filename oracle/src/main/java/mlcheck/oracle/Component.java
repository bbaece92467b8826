package mlcheck.oracle;

import java.util.Map;

/** A ShellBolt or ShellSpout of some Storm, with the worker around it. Its calls throw what Storm's classes throw. */
public interface Component {
    /** prepare or open: starts the process and shakes hands. */
    void start() throws Exception;

    /** Bolts: gives it a tuple as {@link Case#tuples} describes it. */
    default void execute(Map<String, Object> tuple) throws Exception {
        throw new UnsupportedOperationException("a spout executes no tuples");
    }

    /** Spouts: activate, deactivate, next, ack or fail; `id` is that of ack and fail. */
    default void call(String command, Object id) throws Exception {
        throw new UnsupportedOperationException("a bolt is asked for nothing");
    }

    /** cleanup or close. */
    void stop();
}
