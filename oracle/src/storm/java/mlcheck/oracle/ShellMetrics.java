package mlcheck.oracle;

import org.apache.storm.metric.api.CountMetric;
import org.apache.storm.metric.api.rpc.CountShellMetric;
import org.apache.storm.task.TopologyContext;

/** The metrics that the example topology registers: one that a component may update, and one that it may not. */
final class ShellMetrics {
    private static final String COUNT = "shellcount";
    private static final int BUCKET_SECONDS = 60;

    private ShellMetrics() {
    }

    static void register(TopologyContext context) {
        context.registerMetric(COUNT, new RecordedCount(Recorder.current()), BUCKET_SECONDS);
        context.registerMetric("plaincount", new CountMetric(), BUCKET_SECONDS);
    }

    /** The real metric; what it took is recorded. */
    private static final class RecordedCount extends CountShellMetric {
        private final Recorder recorder;

        RecordedCount(Recorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public void updateMetricFromRPC(Object value) {
            super.updateMetricFromRPC(value);
            recorder.add("metric", "name", COUNT, "params", Shown.value(value));
        }
    }
}
