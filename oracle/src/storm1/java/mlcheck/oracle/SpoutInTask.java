package mlcheck.oracle;

import org.apache.storm.spout.SpoutOutputCollector;

/** A spout, opened as executor.clj does it. */
final class SpoutInTask implements Component {
    private final ScriptedSpout spout;
    private final StandInTask task;

    SpoutInTask(ScriptedSpout spout, StandInTask task) {
        this.spout = spout;
        this.task = task;
    }

    @Override
    public void start() {
        RecordingSpoutCollector collector = new RecordingSpoutCollector(new ImitatedSpoutCollector(task, spout));
        spout.open(task.conf(), task.userContext(), new SpoutOutputCollector(collector));
        task.opened();
    }

    @Override
    public void call(String command, Object id) {
        SpoutCalls.call(spout, command, id);
    }

    @Override
    public void stop() {
        spout.close();
    }
}
