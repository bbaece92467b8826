package mlcheck.oracle;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Measures the real ShellBolt or ShellSpout: {@code Bench bolt|spout FOLDER COMMAND...}, FOLDER empty. Says
 * {"component": pid} when the component has shaken hands. Then each line of stdin, a number of tuples or of calls, is a
 * run, and a line of JSON its outcome: {"seconds": s, "cpu_seconds": s} of a bolt and of this process, {"nanoseconds":
 * [...]} of each call to a spout. Runs share the component, so the first ones warm Java up. The end of stdin is the
 * end.
 */
final class Bench {
    private Bench() {
    }

    public static void main(String[] arguments) {
        int status = 0;
        try {
            measureAll(arguments[0], Path.of(arguments[1]), List.of(arguments).subList(2, arguments.length));
        } catch (Exception error) {
            error.printStackTrace();
            status = 1;
        }
        Runtime.getRuntime().halt(status); // as in Main
    }

    private static void measureAll(String kind, Path folder, List<String> command) throws Exception {
        Map<String, Object> conf = StormConf.merged(folder, Map.of(), null, null);
        Run run = kind.equals("spout")
                ? new BenchSpout(new StandInWorker(BenchTopology.withSpout(command), conf))
                : new BenchBolt(new StandInWorker(BenchTopology.withBolt(command), conf));
        say(Map.of("component", ProcessHandle.current().children().findFirst().orElseThrow().pid()));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            say(run.measured(Integer.parseInt(line)));
        }
    }

    private static void say(Map<String, Object> line) {
        System.out.println(Json.write(line));
    }

    /** A component that has shaken hands. */
    interface Run {
        /** How long `times` tuples or calls take. */
        Map<String, Object> measured(int times) throws Exception;
    }
}
