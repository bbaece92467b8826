package mlcheck.oracle;

import java.util.HashMap;
import java.util.List;
import java.util.function.Function;
import org.apache.storm.daemon.GrouperFactory;
import org.apache.storm.generated.Grouping;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;

/** What chooses among the tasks of one consumer, as an executor of Storm 2.x makes it. */
final class Groupers {
    private Groupers() {
    }

    static Function<List<Object>, List<Integer>> of(WorkerTopologyContext context, String source, String stream,
            Fields fields, Grouping grouping, List<Integer> tasks) {
        LoadAwareCustomStreamGrouping grouper =
            GrouperFactory.mkGrouper(context, source, stream, fields, grouping, tasks, new HashMap<>());
        return values -> grouper.chooseTasks(0, values);
    }
}
