<?php

declare(strict_types=1);

/* Counts words, and emits each with its count so far. */

require __DIR__ . '/../../../conformance/testees/php/Storm.php';

final class Count extends Storm\BasicBolt
{
    private array $counts = [];

    public function process(Storm\Tuple $tuple): void
    {
        $word = $tuple->values[0];
        $this->counts[$word] = ($this->counts[$word] ?? 0) + 1;
        $this->emit([$word, $this->counts[$word]]);
    }
}

(new Count())->run();
