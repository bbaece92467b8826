package mlcheck.oracle;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A line of Storm versions: how a component is put into a worker of its kind. Each line's sources have one. */
public interface Storm {
    /** The name of the implementation in the sources of the line that was compiled. */
    String IMPLEMENTATION = "mlcheck.oracle.StormLine";

    /**
     * A component whose process is `command`, in a worker that keeps its files in `folder`. `conf`: what is other than
     * in this version's defaults. `timeout`: the subprocess timeout in seconds, null for the default.
     */
    Component bolt(List<String> command, Path folder, Map<String, Object> conf, Long timeout) throws Exception;

    /** The same for a spout. */
    Component spout(List<String> command, Path folder, Map<String, Object> conf, Long timeout) throws Exception;

    /** The loggers of ShellBolt and ShellSpout. */
    List<String> loggers();

    static Storm load() throws ReflectiveOperationException {
        return (Storm) Class.forName(IMPLEMENTATION).getDeclaredConstructor().newInstance();
    }
}
