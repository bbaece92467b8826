package mlcheck.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Values and errors in the form that verdicts show: the same from run to run, and JSON. */
final class Shown {
    private static final int DEEPEST = 6;
    private static final int ERROR_CHARS = 300;
    private static final Pattern ID = Pattern.compile("-?[0-9]{15,20}");
    private static final Pattern HASH = Pattern.compile("@[0-9a-f]{5,8}(?![0-9a-f])");

    private Shown() {
    }

    static String type(Object value) {
        return value == null ? "null" : value.getClass().getSimpleName();
    }

    static List<String> types(List<?> values) {
        return values.stream().map(Shown::type).toList();
    }

    /** A value as JSON; what JSON can't hold, or would change, as Class:text; too deep a nesting is cut. */
    static Object value(Object value) {
        return value(value, 0);
    }

    private static Object value(Object value, int depth) {
        if (value == null || value instanceof String || value instanceof Boolean
                || value instanceof Long || value instanceof Integer) {
            return value;
        } else if (value instanceof Double number && !number.isNaN() && !number.isInfinite()) {
            return value;
        } else if (value instanceof List<?> list) {
            return list(list, depth);
        } else if (value instanceof Map<?, ?> map) {
            Map<String, Object> shown = new LinkedHashMap<>();
            map.forEach((key, item) -> shown.put(String.valueOf(key), value(item, depth + 1)));
            return shown;
        }
        return type(value) + ":" + value;
    }

    private static List<Object> list(List<?> list, int depth) {
        List<Object> shown = new ArrayList<>();
        if (depth >= DEEPEST) {
            shown.add("...deeper");
            return shown;
        }
        list.forEach(item -> shown.add(value(item, depth + 1)));
        return shown;
    }

    /** The texts of an exception and its causes, without what differs each time. `pid` is the component's, or null. */
    static List<String> chain(Throwable error, String pid) {
        List<String> texts = new ArrayList<>();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            texts.add(cut(masked(cause.toString(), pid), ERROR_CHARS));
        }
        return texts;
    }

    static String masked(String text, String pid) {
        String masked = HASH.matcher(ID.matcher(text).replaceAll("<id>")).replaceAll("@<hash>");
        return pid == null ? masked : masked.replaceAll("(?<![0-9])" + pid + "(?![0-9])", "<pid>");
    }

    static String cut(String text, int chars) {
        return text.length() <= chars ? text : text.substring(0, chars) + "...(" + text.length() + " chars)";
    }
}
