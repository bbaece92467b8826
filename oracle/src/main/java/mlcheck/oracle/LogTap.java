package mlcheck.oracle;

import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Reads Storm's log: ShellBolt and ShellSpout log what the component sends as "log", and what it writes to stderr goes
 * to a logger with the component's name. All versions log through slf4j, which is bound to java.util.logging here.
 */
final class LogTap extends Handler {
    private static final Map<Level, String> LEVELS = Map.of(Level.FINEST, "TRACE", Level.FINE, "DEBUG",
            Level.INFO, "INFO", Level.WARNING, "WARN", Level.SEVERE, "ERROR");
    private static final String PREFIX = "ShellLog ";

    private final String component;
    private final String afterName;
    private final List<Logger> listened; // the log manager itself would forget them

    private LogTap(String component, List<String> loggers) {
        this.component = component;
        this.afterName = ", name:" + component + " ";
        this.listened = loggers.stream().map(Logger::getLogger).toList();
    }

    /** Listens to `loggers`, and to the stderr of `component`; all other logs are silenced. */
    static void install(String component, List<String> loggers) {
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        LogTap tap = new LogTap(component, loggers);
        tap.setLevel(Level.ALL);
        for (Logger logger : tap.listened) {
            logger.setLevel(Level.ALL);
            logger.addHandler(tap);
        }
    }

    @Override
    public void publish(LogRecord record) {
        CaseGroup group = CaseGroup.current();
        String text = record.getMessage();
        if (group == null || text == null) {
            return;
        }
        if (component.equals(record.getLoggerName())) {
            group.recorder().stderr(text);
        } else if (text.startsWith(PREFIX) && text.contains(afterName)) {
            String message = text.substring(text.indexOf(afterName) + afterName.length());
            group.recorder().log(LEVELS.get(record.getLevel()), message);
        }
    }

    @Override
    public void flush() {
        // nothing is buffered
    }

    @Override
    public void close() {
        // nothing is open
    }
}
