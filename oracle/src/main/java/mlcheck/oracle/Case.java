package mlcheck.oracle;

import java.util.List;
import java.util.Map;

/** One script: what the component does, and what Storm feeds it. The keys are those of conformance/oracle/README.md. */
record Case(Map<String, Object> fields) {
    private static final long LIMIT_MS = 8000;
    private static final long QUIET_MS = 250;

    String name() {
        return (String) fields.get("case");
    }

    boolean isSpout() {
        return "spout".equals(fields.get("kind"));
    }

    /** What a bolt is fed: values, comp, stream, task, after_ms, times. */
    @SuppressWarnings("unchecked")
    List<Map<String, Object>> tuples() {
        Object given = fields.getOrDefault("tuples", List.of(Map.of("values", List.of("hello", 1L))));
        return (List<Map<String, Object>>) given;
    }

    /** What a spout is asked: activate, next, deactivate, ack:ID, fail:ID, sleep:MS. */
    @SuppressWarnings("unchecked")
    List<String> calls() {
        return (List<String>) fields.getOrDefault("calls", List.of("activate", "next"));
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> conf() {
        return (Map<String, Object>) fields.getOrDefault("conf", Map.of());
    }

    /** The subprocess timeout in seconds, null for Storm's default. */
    Long heartbeatSeconds() {
        return (Long) fields.get("heartbeat_s");
    }

    long limitMs() {
        return (Long) fields.getOrDefault("limit_ms", LIMIT_MS);
    }

    long quietMs() {
        return (Long) fields.getOrDefault("quiet_ms", QUIET_MS);
    }

    long holdMs() {
        return (Long) fields.getOrDefault("hold_ms", 0L);
    }

    /** The log message that ends the case at once, null if none does: what came before it has been handled by then. */
    String untilLog() {
        return (String) fields.get("until_log");
    }
}
