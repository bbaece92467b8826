import java.util.List;

/** A bolt that splits sentences into words. As it is basic, the words are anchored, and the sentence is acked. */
public final class SplitBolt extends Storm.BasicBolt {
    public static void main(String[] args) {
        new SplitBolt().run();
    }

    @Override
    protected void process(Tuple tuple) throws Exception {
        if (tuple.values().isEmpty()) {
            return;
        }
        for (String word : String.valueOf(tuple.values().get(0)).strip().split("\\s+")) {
            if (!word.isEmpty()) {
                emit(List.of(word));
            }
        }
    }
}
