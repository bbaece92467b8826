package mlcheck.components;

import java.util.Map;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;

/** Builds a topology in Java; most of its components say nothing of how many there are to be. */
public class Built {
    public StormTopology getTopology(Map<String, Object> conf) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("numbers", new NumberSpout(2));
        builder.setBolt("types", new TypesBolt()).partialKeyGrouping("numbers", new Fields("bytes"));
        builder.setBolt("tick", new TickBolt(Map.of("told", "hello")), 2).setNumTasks(3).shuffleGrouping("types");
        return builder.createTopology();
    }
}
