package mlcheck.oracle;

import org.apache.storm.spout.ISpout;

/** The calls that an executor makes to a spout. */
final class SpoutCalls {
    private SpoutCalls() {
    }

    static void call(ISpout spout, String command, Object id) {
        switch (command) {
            case "next" -> spout.nextTuple();
            case "activate" -> spout.activate();
            case "deactivate" -> spout.deactivate();
            case "ack" -> spout.ack(id);
            case "fail" -> spout.fail(id);
            default -> throw new IllegalArgumentException("a spout has no call " + command);
        }
    }
}
