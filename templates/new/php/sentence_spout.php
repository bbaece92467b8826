<?php

declare(strict_types=1);

require __DIR__ . '/Storm.php';

/** A spout that emits sentences, and again those that failed. */
final class SentenceSpout extends Storm\Spout
{
    private const SENTENCES = [
        'the cow jumped over the moon',
        'an apple a day keeps the doctor away',
        'snow white and the seven dwarfs',
    ];

    private array $waiting = [];
    private array $pending = [];

    public function initialize(object $conf, object $context): void
    {
        foreach (self::SENTENCES as $number => $sentence) {
            $this->waiting[] = (string) ($number + 1);
            $this->pending[$number + 1] = $sentence;
        }
    }

    /** Emits one sentence. Because it has an id, Storm tells its fate: ack or fail. */
    public function nextTuple(): void
    {
        $id = array_shift($this->waiting);
        if ($id === null) {
            usleep(10_000); // do not let Storm ask again at full speed
            return;
        }
        $this->emit([$this->pending[$id]], id: $id);
    }

    public function ack(mixed $id): void
    {
        unset($this->pending[$id]);
    }

    public function fail(mixed $id): void
    {
        if (isset($this->pending[$id])) {
            $this->waiting[] = $id;
        }
    }
}

(new SentenceSpout())->run();
