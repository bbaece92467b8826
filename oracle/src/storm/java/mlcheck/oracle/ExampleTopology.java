package mlcheck.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;

/** The topology around the component: that of conformance/example-topology.yaml. */
final class ExampleTopology {
    /** The component's task. */
    static final int TASK = 3;
    private static final String SYSTEM = "__system";
    private static final String ACKER = "__acker";
    private static final int ACKER_TASK = 1;

    private ExampleTopology() {
    }

    static StormTopology withBolt(List<String> command) {
        TopologyBuilder builder = new TopologyBuilder();
        bolt(builder, Main.COMPONENT, new ScriptedBolt(command), 1)
            .shuffleGrouping("src").shuffleGrouping("src", "other");
        return surrounded(builder);
    }

    static StormTopology withSpout(List<String> command) {
        TopologyBuilder builder = new TopologyBuilder();
        spout(builder, Main.COMPONENT, new ScriptedSpout(command));
        return surrounded(builder);
    }

    private static StormTopology surrounded(TopologyBuilder builder) {
        spout(builder, "src", new Source());
        bolt(builder, "sink", new Sink(), 2).shuffleGrouping(Main.COMPONENT).shuffleGrouping(Main.COMPONENT, "one");
        bolt(builder, "dsink", new Sink(), 1).directGrouping(Main.COMPONENT, "dir");
        bolt(builder, "fsink", new Sink(), 1).fieldsGrouping(Main.COMPONENT, "fld", new Fields("b"));
        return builder.createTopology();
    }

    /** Nimbus writes the number of tasks into the conf of each component before a worker sees the topology. */
    private static BoltDeclarer bolt(TopologyBuilder builder, String name, IRichBolt bolt, int tasks) {
        return builder.setBolt(name, bolt, tasks).setNumTasks(tasks);
    }

    private static void spout(TopologyBuilder builder, String name, IRichSpout spout) {
        builder.setSpout(name, spout, 1).setNumTasks(1);
    }

    /** The streams of the component. */
    static void declare(OutputFieldsDeclarer declarer) {
        Fields both = new Fields("a", "b");
        declarer.declare(both);
        declarer.declareStream("one", new Fields("a"));
        declarer.declareStream("fld", both);
        declarer.declareStream("dir", true, both);
        declarer.declareStream("lone", both);
        declarer.declareStream("lonedir", true, both);
    }

    /** Which component each task belongs to. The cases name these numbers, so they are not left to Storm. */
    static Map<Integer, String> tasks(Map<String, Object> conf) {
        Map<Integer, String> tasks = new TreeMap<>(Map.of(-1, SYSTEM, 2, "src", TASK, Main.COMPONENT, 4, "sink",
                5, "sink", 6, "dsink", 7, "fsink"));
        if (!Integer.valueOf(0).equals(ackers(conf))) {
            tasks.put(ACKER_TASK, ACKER);
        }
        return new HashMap<>(tasks);
    }

    /** The number of ackers that the conf asks for, null for Storm's default. */
    static Integer ackers(Map<String, Object> conf) {
        Number ackers = (Number) conf.get("topology.acker.executors");
        return ackers == null ? null : ackers.intValue();
    }

    /** The tasks of each component, in order. */
    static Map<String, List<Integer>> tasksOf(Map<Integer, String> components) {
        Map<String, List<Integer>> tasks = new HashMap<>();
        new TreeMap<>(components).forEach(
            (task, component) -> tasks.computeIfAbsent(component, name -> new ArrayList<>()).add(task));
        return tasks;
    }

    /** Where the bolt's tuples come from; it never runs. */
    private static final class Source extends BaseRichSpout {
        private static final long serialVersionUID = 1L;

        @Override
        public void open(Map conf, TopologyContext context, SpoutOutputCollector collector) {
            // never called
        }

        @Override
        public void nextTuple() {
            // never called
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("word", "n"));
            declarer.declareStream("other", new Fields("x"));
        }
    }

    /** Where the component's tuples go; it never runs. */
    private static final class Sink extends BaseRichBolt {
        private static final long serialVersionUID = 1L;

        @Override
        public void prepare(Map conf, TopologyContext context, OutputCollector collector) {
            // never called
        }

        @Override
        public void execute(Tuple input) {
            // never called
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            // a sink emits nothing
        }
    }
}
