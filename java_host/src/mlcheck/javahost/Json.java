package mlcheck.javahost;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;

/** The JSON library of this Storm's ShellBolt, so that values are what that makes of them. */
final class Json {
    private static final List<String> LIBRARIES = List.of(
        "org.apache.storm.shade.net.minidev.json.JSONValue",
        "org.apache.storm.shade.org.json.simple.JSONValue",
        "net.minidev.json.JSONValue",
        "org.json.simple.JSONValue");
    private static final MethodHandle PARSE = method("parseWithException", Object.class, String.class);
    private static final MethodHandle WRITE = method("toJSONString", String.class, Object.class);

    private Json() {
    }

    static Object parse(String text) {
        try {
            return PARSE.invoke(text);
        } catch (Throwable error) {
            throw new IllegalArgumentException("no JSON: " + error.getMessage(), error);
        }
    }

    static String write(Object value) {
        try {
            return (String) WRITE.invoke(value);
        } catch (Throwable error) {
            throw new IllegalArgumentException("no JSON can be made of it: " + error.getMessage(), error);
        }
    }

    private static MethodHandle method(String name, Class<?> result, Class<?> argument) {
        for (String library : LIBRARIES) {
            try {
                return MethodHandles.publicLookup().findStatic(
                    Class.forName(library), name, MethodType.methodType(result, argument));
            } catch (ReflectiveOperationException absent) {
                // of another Storm version
            }
        }
        throw new IllegalStateException("this Storm has no JSON library that is known");
    }
}
