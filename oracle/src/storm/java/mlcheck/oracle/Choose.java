package mlcheck.oracle;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.tuple.Fields;

/**
 * Says which tasks this Storm's groupings choose: a JSON string a line in, the text of an array of values, which this
 * Storm's own parser reads; a line out for each: {"fields": [...], "partial": [...]}, the choice among 1, 2, ... MOST
 * tasks, numbered from 0, by all values of the array. What counts its choices has had all lines before.
 */
final class Choose {
    private static final int MOST = 8;
    private static final String SOURCE = "src";
    private static final String STREAM = "default";
    private static final String PARTIAL_KEY = "org.apache.storm.grouping.PartialKeyGrouping";

    private final Parse parse = new Parse();
    private final Map<Integer, List<List<Function<List<Object>, List<Integer>>>>> choosers = new HashMap<>();

    private Choose() throws Exception {
    }

    public static void main(String[] arguments) throws Exception {
        Choose choose = new Choose();
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader texts = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = texts.readLine(); line != null; line = texts.readLine()) {
            answers.println(Json.write(choose.answer((String) Json.parse(line))));
        }
        answers.flush();
        Runtime.getRuntime().halt(0);
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> answer(String text) throws Exception {
        List<Object> values = (List<Object>) parse.value(text);
        if (!choosers.containsKey(values.size())) {
            choosers.put(values.size(), List.of(fields(names(values.size())), partial(names(values.size()))));
        }
        List<List<Function<List<Object>, List<Integer>>>> both = choosers.get(values.size());
        return Map.of("fields", chosen(both.get(0), values), "partial", chosen(both.get(1), values));
    }

    private static List<Integer> chosen(List<Function<List<Object>, List<Integer>>> choosers, List<Object> values) {
        return choosers.stream().map(chooser -> chooser.apply(values).get(0)).toList();
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(index -> "f" + index).toList();
    }

    private static List<Integer> tasks(int count) {
        return new ArrayList<>(IntStream.range(0, count).boxed().toList());
    }

    private static List<Function<List<Object>, List<Integer>>> fields(List<String> names) throws Exception {
        List<Function<List<Object>, List<Integer>>> choosers = new ArrayList<>();
        WorkerTopologyContext context = context(names);
        for (int count = 1; count <= MOST; count++) {
            Grouping grouping = Grouping.fields(new ArrayList<>(names));
            choosers.add(Groupers.of(context, SOURCE, STREAM, new Fields(names), grouping, tasks(count)));
        }
        return choosers;
    }

    /** None where this Storm has no such grouping. */
    private static List<Function<List<Object>, List<Integer>>> partial(List<String> names) throws Exception {
        List<Function<List<Object>, List<Integer>>> choosers = new ArrayList<>();
        try {
            for (int count = 1; count <= MOST; count++) {
                CustomStreamGrouping grouping = (CustomStreamGrouping) Class.forName(PARTIAL_KEY)
                    .getConstructor(Fields.class).newInstance(new Fields(names));
                grouping.prepare(context(names), new GlobalStreamId(SOURCE, STREAM), tasks(count));
                choosers.add(values -> grouping.chooseTasks(0, values));
            }
        } catch (ClassNotFoundException absent) {
            choosers.clear();
        }
        return choosers;
    }

    private static WorkerTopologyContext context(List<String> names) throws Exception {
        Map<String, Map<String, Fields>> fields = new HashMap<>();
        fields.put(SOURCE, new HashMap<>(Map.of(STREAM, new Fields(names))));
        return new WorkerTopologyContext(ExampleTopology.withBolt(List.of("true")), new HashMap<>(), new HashMap<>(),
            new HashMap<>(), fields, StormConf.TOPOLOGY, "", "", 0, new ArrayList<>(), new HashMap<>(), new HashMap<>());
    }
}
