package mlcheck.javahost;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.utils.ThriftTopologyUtils;
import org.apache.storm.utils.Utils;

/**
 * Chooses tasks by custom groupings. The first line tells conf and tasks; each
 * further one asks for a tuple's tasks, and is answered by a line.
 */
public final class GroupingMain {
    private final StormTopology topology;
    private final Contexts contexts;
    private final Values values;
    private final Map<String, CustomStreamGrouping> prepared = new HashMap<>();

    private GroupingMain(StormTopology topology, Contexts contexts, Values values) {
        this.topology = topology;
        this.contexts = contexts;
        this.values = values;
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> told = (Map<String, Object>) Json.parse(in.readLine());
        Map<String, Object> conf = Utils.readDefaultConfig();
        conf.putAll((Map<String, Object>) told.get("conf"));
        Map<Integer, String> tasks = new TreeMap<>();
        ((Map<String, String>) told.get("tasks")).forEach((task, name) -> tasks.put(Integer.valueOf(task), name));
        StormTopology topology = ComponentMain.read();
        GroupingMain main = new GroupingMain(
            topology, new Contexts(topology, conf, tasks, "."), new Values(ComponentMain.tag(), conf));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.print(Json.write(main.answer((Map<String, Object>) Json.parse(line))) + "\n");
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private Object answer(Map<String, Object> asked) {
        try {
            List<Object> tuple = values.read((List<?>) asked.get("values"));
            return grouping(asked).chooseTasks(((Number) asked.get("task")).intValue(), tuple);
        } catch (RuntimeException | LinkageError error) {
            error.printStackTrace();
            return String.valueOf(error);
        }
    }

    /** One for each executor that emits, as in Storm: some of them count. */
    private CustomStreamGrouping grouping(Map<String, Object> asked) {
        GlobalStreamId stream = new GlobalStreamId((String) asked.get("source"), (String) asked.get("stream"));
        String target = (String) asked.get("target");
        int executor = ((Number) asked.get("executor")).intValue();
        return prepared.computeIfAbsent(executor + " " + stream + " " + target, any -> {
            Grouping told = ThriftTopologyUtils.getComponentCommon(topology, target).get_inputs().get(stream);
            CustomStreamGrouping made = PlanMain.custom(told);
            made.prepare(contexts.of(executor), stream, contexts.tasksOf().get(target));
            return made;
        });
    }
}
