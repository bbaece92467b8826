package mlcheck.cluster;

import java.util.ArrayList;
import java.util.List;
import org.apache.storm.Config;
import org.apache.storm.LocalCluster;
import org.apache.storm.ProcessSimulator;
import org.apache.storm.flux.FluxBuilder;
import org.apache.storm.flux.model.ExecutionContext;
import org.apache.storm.flux.model.TopologyDef;
import org.apache.storm.flux.parser.FluxParser;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.utils.Utils;

/** One run of a topology. */
final class Topology {
    private static final long PAUSE_MILLIS = 20;
    private static int count;

    private final LocalCluster cluster;
    private String name;

    Topology(LocalCluster cluster) {
        this.cluster = cluster;
    }

    /** Submits the topology of a Flux file; writes `submitted`, or `refused` and why. */
    void start(String file) {
        try {
            TopologyDef flux = FluxParser.parseFile(file, false, true, null, false);
            Config conf = FluxBuilder.buildConfig(flux);
            StormTopology topology = FluxBuilder.buildTopology(new ExecutionContext(flux, conf));
            host(topology);
            conf.put(Config.TOPOLOGY_AUTO_TASK_HOOKS, List.of(Watch.class.getName()));
            count++;
            name = "run-" + count;
            cluster.submitTopology(name, conf, topology);
            Events.write("submitted", "name", name);
        } catch (Exception | LinkageError error) {
            name = null;
            Events.write("refused", "error", Events.chain(error));
        }
    }

    private static void host(StormTopology topology) {
        for (Bolt bolt : topology.get_bolts().values()) {
            if (Utils.getSetComponentObject(bolt.get_bolt_object()) instanceof ShellBolt shell) {
                bolt.set_bolt_object(ComponentObject.serialized_java(Utils.javaSerialize(new HostedBolt(shell))));
            }
        }
        for (SpoutSpec spout : topology.get_spouts().values()) {
            if (Utils.getSetComponentObject(spout.get_spout_object()) instanceof ShellSpout shell) {
                spout.set_spout_object(ComponentObject.serialized_java(Utils.javaSerialize(new HostedSpout(shell))));
            }
        }
    }

    /** Storm's supervisor dies for good of a topology that is killed while its files are still fetched. */
    private static void awaitWorker() throws InterruptedException {
        while (ProcessSimulator.getAllProcessHandles().isEmpty()) {
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /**
     * Kills it, waits until its workers and processes are gone, and writes `stopped` with what had to be
     * killed. `stopping` comes first: errors after it are those of the end.
     */
    void stop() throws Exception {
        Events.write("stopping");
        // Before their parents are gone: later nobody knows whose children they were.
        List<ProcessHandle> processes = Processes.all();
        if (name != null) {
            awaitWorker();
            cluster.killTopologyWithOpts(name, LocalCluster.KILL_NOW);
            while (cluster.getClusterInfo().get_topologies_size() > 0
                || !ProcessSimulator.getAllProcessHandles().isEmpty()) {
                Thread.sleep(PAUSE_MILLIS);
            }
            name = null;
        }
        Events.write("stopped", "killed", new ArrayList<>(Processes.end(processes)));
    }
}
