package mlcheck.cluster;

import java.security.Permission;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.storm.executor.error.ReportError;

/**
 * Writes down errors that components report, and exits of the JVM, which are deaths of a worker and do not happen;
 * only the supervisor's own death is real.
 */
@SuppressWarnings("removal") // the only way to catch System.exit; needs -Djava.security.manager=allow
final class Deaths extends SecurityManager {
    private static final String SUPERVISOR = "SLOT_";
    private static final ThreadLocal<Throwable> LAST = new ThreadLocal<>();

    /** From here on. */
    static void watch() {
        Reports reports = new Reports();
        reports.start();
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        context.getConfiguration().getRootLogger().addAppender(reports, Level.ERROR, null);
        context.updateLoggers();
        System.setSecurityManager(new Deaths());
    }

    /** No longer: the JVM may end. */
    static void allow() {
        System.setSecurityManager(null);
    }

    @Override
    public void checkPermission(Permission permission) {
        // all is allowed
    }

    @Override
    public void checkPermission(Permission permission, Object context) {
        // all is allowed
    }

    @Override
    public void checkExit(int status) {
        if (Thread.currentThread().getName().startsWith(SUPERVISOR)) {
            // No topology would ever start again.
            Runtime.getRuntime().halt(status);
        }
        List<String> error = Events.chain(LAST.get());
        Events.write("death", "component", Where.component(), "status", status, "error", error);
        throw new SecurityException("the worker would be dead now");
    }

    /** Every error that a component reports, or that kills it, passes Storm's ReportError, which logs it. */
    private static final class Reports extends AbstractAppender {
        Reports() {
            super("reports", null, null, true, Property.EMPTY_ARRAY);
        }

        @Override
        public void append(LogEvent event) {
            if (event.getLoggerName().equals(ReportError.class.getName())) {
                LAST.set(event.getThrown());
                Events.write("error", "component", Where.component(), "error", Events.chain(event.getThrown()));
            }
        }
    }
}
