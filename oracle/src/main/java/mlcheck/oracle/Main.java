package mlcheck.oracle;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Plays cases to real Storm: {@code Main CASES PLAYER...}, where CASES is a file with a JSON list of cases and PLAYER
 * the command of the traced player. Prints a line of JSON a case, {"case": name, "verdict": {...}}, in their order.
 */
final class Main {
    /** The id that the component has in every case. */
    static final String COMPONENT = "comp";

    private Main() {
    }

    public static void main(String[] arguments) {
        int status = 0;
        try {
            playAll(arguments);
        } catch (Exception error) {
            error.printStackTrace();
            status = 1;
        }
        // Storm's executors hang shutdown hooks that wait for minutes, and its threads need not end by themselves.
        Runtime.getRuntime().halt(status);
    }

    @SuppressWarnings("unchecked")
    private static void playAll(String[] arguments) throws Exception {
        PrintStream verdicts = System.out;
        System.setOut(System.err); // some library may print; the verdicts have the pipe for themselves
        List<Object> cases = (List<Object>) Json.parse(Files.readString(Path.of(arguments[0]), StandardCharsets.UTF_8));
        List<String> player = List.of(arguments).subList(1, arguments.length);
        Storm storm = Storm.load();
        LogTap.install(COMPONENT, storm.loggers());
        trapExits();
        for (Object fields : cases) {
            verdicts.println(Json.write(play(storm, new Case((Map<String, Object>) fields), player)));
            if (verdicts.checkError()) {
                throw new IOException("nobody reads the verdicts any more");
            }
        }
    }

    private static Map<String, Object> play(Storm storm, Case script, List<String> player) throws Exception {
        Path folder = Files.createTempDirectory("oracle-");
        try {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("case", script.name());
            line.put("verdict", new CaseRun(storm, script, player, folder).verdict());
            return line;
        } finally {
            remove(folder);
        }
    }

    /** Removes a folder and what is in it. */
    static void remove(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    @SuppressWarnings("removal") // see ExitTrap
    private static void trapExits() {
        System.setSecurityManager(new ExitTrap());
    }
}
