package mlcheck.javahost;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.serialization.KryoValuesDeserializer;
import org.apache.storm.serialization.KryoValuesSerializer;

/**
 * Values of tuples as JSON. What ShellBolt's JSON gives back as it was stands as it is; any other is an object with
 * the tag as a key: what Kryo makes of it, as between two workers, its hash, and what ShellBolt's JSON makes of it.
 *
 * <p>The tag is drawn for each run, so that no shell component can have bytes of its choice deserialized.
 */
final class Values {
    private static final int SEED = 31; // of Arrays.deepHashCode, by which Storm hashes a key

    private final String tag;
    private final KryoValuesSerializer serializer;
    private final KryoValuesDeserializer deserializer;

    Values(String tag, Map<String, Object> conf) {
        this.tag = tag;
        Map<String, Object> lenient = new HashMap<>(conf);
        // Within a worker nothing is serialized, so what Kryo has no serializer for is right there.
        lenient.put(Config.TOPOLOGY_FALL_BACK_ON_JAVA_SERIALIZATION, true);
        serializer = new KryoValuesSerializer(lenient);
        deserializer = new KryoValuesDeserializer(lenient);
    }

    /** The JSON form of a tuple's values. */
    synchronized List<Object> written(List<Object> values) {
        List<Object> found = new ArrayList<>(values.size());
        for (Object value : values) {
            found.add(isPlain(value) ? value : tagged(value));
        }
        return found;
    }

    /** The values of a tuple in JSON form. */
    synchronized List<Object> read(List<?> values) {
        List<Object> found = new ArrayList<>(values.size());
        for (Object value : values) {
            if (value instanceof Map<?, ?> map && map.get(tag) instanceof String bytes) {
                found.add(deserializer.deserializeObject(Base64.getDecoder().decode(bytes)));
            } else {
                found.add(value);
            }
        }
        return found;
    }

    private Map<String, Object> tagged(Object value) {
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            found.put("json", ((List<?>) Json.parse(Json.write(Collections.singletonList(value)))).get(0));
        } catch (IllegalArgumentException | StackOverflowError none) {
            // It has no JSON form: no shell component can be given it.
        }
        found.put("class", value.getClass().getTypeName());
        found.put("hash", Arrays.deepHashCode(new Object[] {value}) - SEED);
        try {
            found.put(tag, Base64.getEncoder().encodeToString(serializer.serializeObject(value)));
        } catch (RuntimeException error) {
            throw new IllegalArgumentException(value.getClass().getTypeName()
                + " can't be sent to another component: Kryo has no serializer for it, and it is not Serializable", error);
        }
        return found;
    }

    private static boolean isPlain(Object value) {
        if (value == null || value instanceof String || value instanceof Boolean) {
            return true;
        }
        if (!(value instanceof Number) || value instanceof Double number && !Double.isFinite(number)) {
            return false;
        }
        try {
            Object back = Json.parse(Json.write(value));
            return back != null && back.getClass() == value.getClass() && back.equals(value);
        } catch (IllegalArgumentException none) {
            return false;
        }
    }
}
