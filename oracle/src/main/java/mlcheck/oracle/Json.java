package mlcheck.oracle;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as plain Java values, read and written by a parser that no Storm uses, so that it can't hide what theirs do. */
final class Json {
    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

    private Json() {
    }

    /** Returns maps, lists, strings, booleans, Long, Double and null. */
    static Object parse(String text) {
        return plain(JsonParser.parseString(text));
    }

    /** Returns one line of ASCII: what a component sends may be no valid Unicode, and has to survive the pipe. */
    static String write(Object value) {
        String json = GSON.toJson(value);
        StringBuilder ascii = new StringBuilder(json.length());
        for (char c : json.toCharArray()) {
            if (c < 127) {
                ascii.append(c);
            } else {
                ascii.append(String.format("\\u%04x", (int) c));
            }
        }
        return ascii.toString();
    }

    private static Object plain(JsonElement element) {
        if (element.isJsonNull()) {
            return null;
        } else if (element instanceof JsonObject object) {
            Map<String, Object> map = new LinkedHashMap<>();
            object.entrySet().forEach(entry -> map.put(entry.getKey(), plain(entry.getValue())));
            return map;
        } else if (element instanceof JsonArray array) {
            List<Object> list = new ArrayList<>();
            array.forEach(item -> list.add(plain(item)));
            return list;
        }
        return plain(element.getAsJsonPrimitive());
    }

    private static Object plain(JsonPrimitive primitive) {
        if (primitive.isBoolean()) {
            return primitive.getAsBoolean();
        } else if (primitive.isNumber()) {
            String digits = primitive.getAsString();
            return digits.matches("-?[0-9]+") ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
        }
        return primitive.getAsString();
    }
}
