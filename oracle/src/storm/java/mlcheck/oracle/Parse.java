package mlcheck.oracle;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.multilang.JsonSerializer;

/**
 * Says what this Storm's JSON parser makes of texts: a JSON string a line in, a line out for each, {"value": ...} with
 * the class of every part, or {"error": the exception as JsonSerializer lets it out}. Framing has no part in it.
 */
final class Parse {
    private static final String SAMPLE = "{}";
    private static final String BROKEN = "]";

    private final Method parser;
    private final boolean quiet;

    /** Which parser it is, and whether its errors come through, is found out by asking the real serializer. */
    Parse() throws Exception {
        String library = read(SAMPLE).getClass().getPackageName();
        quiet = refusal(BROKEN).startsWith("unable to parse");
        parser = Class.forName(library + ".JSONValue").getMethod(quiet ? "parse" : "parseWithException", String.class);
    }

    public static void main(String[] arguments) throws Exception {
        Parse parse = new Parse();
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader texts = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = texts.readLine(); line != null; line = texts.readLine()) {
            answers.println(Json.write(parse.answer((String) Json.parse(line))));
        }
    }

    private static Object read(String text) throws Exception {
        JsonSerializer serializer = new JsonSerializer();
        byte[] frame = (text + "\nend\n").getBytes(StandardCharsets.UTF_8);
        serializer.initialize(new ByteArrayOutputStream(), new ByteArrayInputStream(frame));
        Method readMessage = JsonSerializer.class.getDeclaredMethod("readMessage");
        readMessage.setAccessible(true);
        return readMessage.invoke(serializer);
    }

    private static String refusal(String text) throws Exception {
        try {
            return "accepted: " + read(text);
        } catch (InvocationTargetException error) {
            return String.valueOf(error.getCause().getMessage());
        }
    }

    /** What the parser makes of a text. */
    Object value(String text) throws ReflectiveOperationException {
        return parser.invoke(null, text);
    }

    private Map<String, Object> answer(String text) throws IllegalAccessException {
        try {
            Object value = parser.invoke(null, text);
            if (quiet && value == null) {
                return Map.of("error", new IOException("unable to parse: " + text).toString());
            }
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("value", typed(value));
            return answer;
        } catch (InvocationTargetException wrapped) {
            Throwable error = wrapped.getCause();
            // JsonSerializer wraps what the parsers declare, ParseException, and nothing else.
            boolean declared = !(error instanceof RuntimeException) && !(error instanceof Error);
            return Map.of("error", (declared ? new IOException(error) : error).toString());
        }
    }

    private static Object typed(Object value) {
        if (value == null) {
            return null;
        } else if (value instanceof List<?> list) {
            return List.of(Shown.type(value), list.stream().map(Parse::typed).toList());
        } else if (value instanceof Map<?, ?> map) {
            Map<String, Object> parts = new LinkedHashMap<>();
            map.forEach((key, part) -> parts.put(String.valueOf(key), typed(part)));
            return List.of(Shown.type(value), parts);
        }
        return List.of(Shown.type(value), value.toString());
    }
}
