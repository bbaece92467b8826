package mlcheck.oracle;

import clojure.lang.IFn;
import java.util.List;
import java.util.function.Function;
import org.apache.storm.generated.Grouping;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;

/** What chooses among the tasks of one consumer, as an executor before Storm 2.0 makes it. */
final class Groupers {
    private Groupers() {
    }

    static Function<List<Object>, List<Integer>> of(WorkerTopologyContext context, String source, String stream,
            Fields fields, Grouping grouping, List<Integer> tasks) {
        boolean withLoad = StormFunctions.groupersKnowLoad();
        IFn grouper = StormFunctions.grouper(context, source, stream, fields, grouping, tasks);
        return values -> List.of(((Number) (withLoad ? grouper.invoke(0, values, null) : grouper.invoke(0, values)))
            .intValue());
    }
}
