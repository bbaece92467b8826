package mlcheck.javahost;

import java.util.AbstractList;
import java.util.List;

/** The task ids that an emit went to: waited for by whoever looks at them, which few do. */
final class TaskIds extends AbstractList<Integer> {
    private final Multilang from;
    /** Set by the reader, under its lock. */
    List<Integer> found;

    TaskIds(Multilang from) {
        this.from = from;
    }

    @Override
    public Integer get(int index) {
        return from.await(this).get(index);
    }

    @Override
    public int size() {
        return from.await(this).size();
    }
}
