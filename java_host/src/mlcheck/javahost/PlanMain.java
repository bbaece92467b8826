package mlcheck.javahost;

import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.storm.flux.FluxBuilder;
import org.apache.storm.flux.model.ExecutionContext;
import org.apache.storm.flux.model.IncludeDef;
import org.apache.storm.flux.model.TopologyDef;
import org.apache.storm.flux.parser.FluxParser;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.spout.ShellSpout;
import org.apache.storm.task.ShellBolt;
import org.apache.storm.utils.ThriftTopologyUtils;
import org.apache.storm.utils.Utils;

/**
 * Has Storm's own FluxParser and FluxBuilder make a topology of a Flux file: asked.json in the plan's folder
 * says which. Writes plan.json, and topology.ser, from which components are hosted.
 */
public final class PlanMain {
    private PlanMain() {
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        Path folder = ComponentMain.folder();
        Map<String, Object> plan = new LinkedHashMap<>();
        try {
            Map<String, Object> asked = (Map<String, Object>) Json.parse(Files.readString(folder.resolve("asked.json")));
            Files.write(folder.resolve("topology.ser"), Utils.thriftSerialize(planned(asked, plan)));
        } catch (Throwable error) {
            error.printStackTrace();
            plan.clear();
            plan.put("error", told(error));
        }
        Files.writeString(folder.resolve("plan.json"), Json.write(plan), StandardCharsets.UTF_8);
        Runtime.getRuntime().halt(0);
    }

    /** The cause that says something, with its class. */
    private static Map<String, Object> told(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && (cause instanceof InvocationTargetException || cause.getMessage() == null
                || cause.getMessage().equals(cause.getCause().toString()))) {
            cause = cause.getCause();
        }
        return Map.of("class", cause.getClass().getName(), "message", String.valueOf(cause.getMessage()));
    }

    @SuppressWarnings("unchecked")
    private static StormTopology planned(Map<String, Object> asked, Map<String, Object> plan) throws Exception {
        TopologyDef definition = read(asked);
        Map<String, Object> over = (Map<String, Object>) asked.get("conf");
        if (definition.getConfig() == null) {
            definition.setConfig(new LinkedHashMap<>());
        }
        definition.getConfig().putAll(over);
        org.apache.storm.Config conf = FluxBuilder.buildConfig(definition);
        StormTopology topology = FluxBuilder.buildTopology(new ExecutionContext(definition, conf));
        plan.put("name", definition.getName());
        plan.put("conf", conf);
        plan.put("hooks", topology.get_worker_hooks_size());
        List<Object> components = new ArrayList<>();
        for (String component : ThriftTopologyUtils.getComponentIds(topology)) {
            components.add(component(topology, component));
        }
        plan.put("components", components);
        return topology;
    }

    @SuppressWarnings("unchecked")
    private static TopologyDef read(Map<String, Object> asked) throws Exception {
        Properties properties = null;
        if (asked.get("properties") instanceof Map<?, ?> known) {
            properties = new Properties();
            properties.putAll(known);
        }
        boolean env = (Boolean) asked.get("env");
        TopologyDef definition = FluxParser.parseFile((String) asked.get("file"), false, false, properties, env);
        if (definition.getIncludes() == null || definition.getIncludes().isEmpty()) {
            return definition;
        }
        for (IncludeDef include : definition.getIncludes()) {
            place(include, (List<String>) asked.get("folders"));
        }
        for (var method : FluxParser.class.getDeclaredMethods()) {
            if (method.getName().equals("processIncludes")) {
                method.setAccessible(true);
                var yaml = FluxParser.class.getDeclaredMethod("yaml");
                yaml.setAccessible(true);
                return (TopologyDef) method.invoke(null, yaml.invoke(null), definition, properties, env);
            }
        }
        throw new IllegalStateException("this FluxParser has no processIncludes");
    }

    /** Storm's includes are looked for in the working directory and the jar; here also beside the file. */
    private static void place(IncludeDef include, List<String> folders) {
        String name = include.isResource() ? include.getFile().replaceFirst("^/+", "") : include.getFile();
        for (String folder : folders) {
            File found = new File(name).isAbsolute() ? new File(name) : new File(folder, name);
            if (found.isFile()) {
                include.setFile(found.getAbsolutePath());
                include.setResource(false);
                return;
            }
        }
    }

    private static Map<String, Object> component(StormTopology topology, String id) throws Exception {
        ComponentCommon common = ThriftTopologyUtils.getComponentCommon(topology, id);
        Object object = ComponentMain.object(topology, id);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("id", id);
        found.put("kind", topology.get_spouts().containsKey(id) ? "spout" : "bolt");
        found.put("class", inner(object).getClass().getName());
        found.put("wrapper", object.getClass().getName());
        found.put("parallelism", common.is_set_parallelism_hint() ? common.get_parallelism_hint() : 1);
        found.put("conf", common.get_json_conf() == null ? Map.of() : Json.parse(common.get_json_conf()));
        Map<String, Object> streams = new LinkedHashMap<>();
        common.get_streams().forEach((name, info) -> streams.put(
            name, Map.of("fields", info.get_output_fields(), "direct", info.is_direct())));
        found.put("streams", streams);
        List<Object> inputs = new ArrayList<>();
        common.get_inputs().forEach((stream, grouping) -> {
            Map<String, Object> input = new LinkedHashMap<>();
            input.put("source", stream.get_componentId());
            input.put("stream", stream.get_streamId());
            input.put("grouping", type(grouping));
            input.put("fields", grouping.is_set_fields() ? grouping.get_fields() : List.of());
            inputs.add(input);
        });
        found.put("inputs", inputs);
        if (object instanceof ShellBolt) {
            found.put("shell", shell(object, ShellBolt.class));
        } else if (object instanceof ShellSpout) {
            found.put("shell", shell(object, ShellSpout.class));
        }
        return found;
    }

    /** The user's own bolt, inside of what TopologyBuilder puts around it. */
    private static Object inner(Object object) throws Exception {
        if (object.getClass().getName().startsWith("org.apache.storm.topology.")) {
            for (Field field : object.getClass().getDeclaredFields()) {
                if (field.getName().equals("bolt") || field.getName().equals("_bolt")) {
                    field.setAccessible(true);
                    return inner(field.get(object));
                }
            }
        }
        return object;
    }

    private static String type(Grouping grouping) {
        return switch (grouping.getSetField()) {
            case FIELDS -> grouping.get_fields().isEmpty() ? "GLOBAL" : "FIELDS";
            case CUSTOM_OBJECT, CUSTOM_SERIALIZED -> "CUSTOM";
            default -> grouping.getSetField().name();
        };
    }

    private static Map<String, Object> shell(Object object, Class<?> base) throws Exception {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("command", List.of((String[]) field(object, base, "command")));
        Object env = field(object, base, "env");
        found.put("env", env == null ? Map.of() : env);
        found.put("changeDirectory", field(object, base, "changeDirectory"));
        return found;
    }

    private static Object field(Object object, Class<?> base, String name) throws Exception {
        Field field = base.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    static CustomStreamGrouping custom(Grouping grouping) {
        if (grouping.is_set_custom_serialized()) {
            return Utils.javaDeserialize(grouping.get_custom_serialized(), CustomStreamGrouping.class);
        }
        throw new IllegalArgumentException("a custom grouping given by its class name is not known here");
    }
}
