<?php

declare(strict_types=1);

require __DIR__ . '/Storm.php';

/** A bolt that splits sentences into words. As it is basic, the words are anchored, and the sentence is acked. */
final class SplitBolt extends Storm\BasicBolt
{
    public function process(Storm\Tuple $tuple): void
    {
        $first = $tuple->values[0] ?? '';
        $sentence = is_string($first) ? $first : json_encode($first, JSON_THROW_ON_ERROR);
        foreach (preg_split('/\s+/', $sentence, flags: PREG_SPLIT_NO_EMPTY) as $word) {
            $this->emit([$word]);
        }
    }
}

(new SplitBolt())->run();
