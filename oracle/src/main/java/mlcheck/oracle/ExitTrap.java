package mlcheck.oracle;

import java.security.Permission;

/** Turns System.exit in a thread of a case into its verdict. Everything else is allowed. */
@SuppressWarnings("removal") // the only way to catch System.exit; needs -Djava.security.manager=allow
final class ExitTrap extends SecurityManager {
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
        CaseGroup group = CaseGroup.current();
        if (group != null) {
            group.recorder().exit(status);
            throw new WorkerExit(status);
        }
    }
}
