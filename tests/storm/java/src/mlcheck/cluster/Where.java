package mlcheck.cluster;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whose thread this is: the component's id. */
final class Where {
    private static final Pattern EXECUTOR = Pattern.compile("Thread-\\d+-(.+)-executor\\[.*");
    private static final InheritableThreadLocal<String> COMPONENT = new InheritableThreadLocal<>();

    private Where() {
    }

    /** Marks this thread, and those that it starts from now on: a shell component's reader, writer and timer. */
    static void enter(String component) {
        COMPONENT.set(component);
    }

    /** Null if it is no component's. */
    static String component() {
        Matcher executor = EXECUTOR.matcher(Thread.currentThread().getName());
        return executor.matches() ? executor.group(1) : COMPONENT.get();
    }
}
