package mlcheck.javahost;

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.ISpout;
import org.apache.storm.task.IBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.utils.Utils;

/** Hosts a component of a planned topology: {@code ComponentMain COMPONENT}. */
public final class ComponentMain {
    private ComponentMain() {
    }

    public static void main(String[] arguments) {
        Multilang pipe = takePipe();
        int status = 0;
        try {
            run(pipe, arguments[0]);
        } catch (Throwable error) {
            error.printStackTrace();
            try {
                pipe.say(Map.of("command", "error", "msg", String.valueOf(error)));
                pipe.flush();
            } catch (RuntimeException gone) {
                // Nobody hears it.
            }
            status = 1;
        }
        Runtime.getRuntime().halt(status);
    }

    /** Take stdin and stdout for the protocol; what components print goes to stderr. */
    static Multilang takePipe() {
        InputStream in = System.in;
        PrintStream out = System.out;
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        return new Multilang(in, out);
    }

    @SuppressWarnings("unchecked")
    private static void run(Multilang pipe, String component) throws Exception {
        Map<String, Object> handshake = pipe.handshake();
        if (handshake == null) {
            return;
        }
        long pid = ProcessHandle.current().pid();
        String pids = (String) handshake.get("pidDir");
        Files.createFile(Path.of(pids, String.valueOf(pid)));
        // It goes out once the component is open or prepared: a run begins when all have said it.
        pipe.say(Map.of("pid", pid));
        Map<String, Object> conf = Utils.readDefaultConfig();
        conf.putAll((Map<String, Object>) handshake.get("conf"));
        Map<String, Object> told = (Map<String, Object>) handshake.get("context");
        Map<Integer, String> tasks = new HashMap<>();
        ((Map<String, String>) told.get("task->component")).forEach(
            (task, name) -> tasks.put(Integer.valueOf(task), name));
        StormTopology topology = read();
        TopologyContext context =
            new Contexts(topology, conf, tasks, pids).of(((Number) told.get("taskid")).intValue());
        Values values = new Values(tag(), conf);
        Object object = object(topology, component);
        if (object instanceof ISpout spout) {
            new HostedSpout(spout, pipe, values).run(conf, context);
        } else {
            new HostedBolt((IBolt) object, context, pipe, values).run(conf);
        }
    }

    /** The folder of the plan. */
    static Path folder() {
        return Path.of(System.getProperty("mlcheck.folder"));
    }

    /** The key by which values are known that only Java can read. */
    static String tag() {
        return System.getProperty("mlcheck.tag");
    }

    static StormTopology read() throws Exception {
        return Utils.thriftDeserialize(StormTopology.class, Files.readAllBytes(folder().resolve("topology.ser")));
    }

    /** The spout or bolt itself, deserialized as a worker does it. */
    static Object object(StormTopology topology, String component) {
        ComponentObject found = topology.get_spouts().containsKey(component)
            ? topology.get_spouts().get(component).get_spout_object()
            : topology.get_bolts().get(component).get_bolt_object();
        return found.is_set_serialized_java() ? Utils.getSetComponentObject(found) : found.getFieldValue();
    }
}
