package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;

/** The topology around a measured component, which is a bare ShellBolt or ShellSpout: nothing of it is recorded. */
final class BenchTopology {
    /** The component and task whose tuples a bolt gets. */
    static final String SOURCE = "src";
    static final int SOURCE_TASK = 2;
    private static final String SINK = "fsink"; // one task in ExampleTopology.tasks, as on mlcheck's side
    private static final Fields FIELDS = new Fields("title", "sentence", "number", "weight", "last");

    private BenchTopology() {
    }

    static StormTopology withBolt(List<String> command) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SOURCE, new Source(), 1).setNumTasks(1);
        builder.setBolt(Main.COMPONENT, new Bolt(command), 1).setNumTasks(1).shuffleGrouping(SOURCE);
        builder.setBolt(SINK, new Sink(), 1).setNumTasks(1).shuffleGrouping(Main.COMPONENT);
        return builder.createTopology();
    }

    static StormTopology withSpout(List<String> command) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(Main.COMPONENT, new Spout(command), 1).setNumTasks(1);
        builder.setBolt(SINK, new Sink(), 1).setNumTasks(1).shuffleGrouping(Main.COMPONENT);
        return builder.createTopology();
    }

    /** The real ShellBolt, in the form in which people put one into a topology. */
    private static final class Bolt extends ShellBolt implements IRichBolt {
        private static final long serialVersionUID = 1L;

        Bolt(List<String> command) {
            super(command.toArray(new String[0]));
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(FIELDS);
        }

        @Override
        public Map<String, Object> getComponentConfiguration() {
            return null;
        }
    }

    /** The real ShellSpout. */
    private static final class Spout extends ShellSpout implements IRichSpout {
        private static final long serialVersionUID = 1L;

        Spout(List<String> command) {
            super(command.toArray(new String[0]));
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(FIELDS);
        }

        @Override
        public Map<String, Object> getComponentConfiguration() {
            return null;
        }
    }

    /** Where the bolt's tuples come from; it never runs. */
    private static final class Source extends BaseRichSpout {
        private static final long serialVersionUID = 1L;

        @Override
        public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            // never called
        }

        @Override
        public void nextTuple() {
            // never called
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(FIELDS);
        }
    }

    /** Where the component's tuples go; it never runs. */
    private static final class Sink extends BaseRichBolt {
        private static final long serialVersionUID = 1L;

        @Override
        public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
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
