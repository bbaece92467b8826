<?php

declare(strict_types=1);

/* The testee of Storm.php: does what a tuple or conf tells it (see `mlcheck docs testees`). */

require __DIR__ . '/Storm.php';
require __DIR__ . '/mutants.php';

use Storm\Tuple;

const LEVELS = ['trace' => 0, 'debug' => 1, 'info' => 2, 'warn' => 3, 'error' => 4];

/** The plan in a tuple's first value; without one: an echo, or for a tick an ack. */
function planOf(Tuple $tuple): array
{
    if ($tuple->stream === '__tick') {
        return [(object) ['do' => 'ack']];
    }
    $first = $tuple->values[0] ?? null;
    $others = is_array($first) ? array_filter($first, fn ($each): bool => !is_object($each) || !isset($each->do)) : [];
    if (is_array($first) && $first && !$others) {
        return $first;
    }
    return [(object) ['do' => 'emit', 'values' => $tuple->values], (object) ['do' => 'ack']];
}

/** What bolts and spouts have in common. */
trait Testee
{
    use Mutants;

    private array $seen = ['task_ids' => []];

    public function initialize(object $conf, object $context): void
    {
        $this->seen += ['conf' => $conf, 'context' => $context];
    }

    /** Does what is the same in a bolt and in a spout. */
    private function common(object $action): void
    {
        match ($action->do) {
            'emit' => $this->emitAs($action),
            'tell' => $this->emit([$action->what, $this->seen[$action->what]], stream: 'told'),
            'log' => $this->log($action->message, LEVELS[$action->level ?? 'info']),
            'error' => $this->reportError($action->message),
            'raise' => throw new RuntimeException($action->message),
            'sleep' => usleep((int) ($action->seconds * 1e6)),
            'exit' => exit($action->code),
            'print' => print("$action->text\n"),
            'stderr' => fwrite(STDERR, str_repeat('.', $action->bytes)),
        };
    }

    private function emitAs(object $action, array $anchors = []): void
    {
        $this->seen['task_ids'] = $this->emit(
            $action->values,
            $action->stream ?? null,
            $action->task ?? null,
            $action->ids ?? false,
            $anchors,
            $action->id ?? null,
        ) ?? $this->seen['task_ids'];
    }
}

/** Settles as it is told. */
final class TesteeBolt extends Storm\Bolt
{
    use Testee;

    private array $held = [];

    public function process(Tuple $tuple): void
    {
        $this->held['input'] = $this->seen['tuple'] = $tuple;
        foreach (planOf($tuple) as $action) {
            $named = $this->held[$action->tuple ?? 'input'] ?? null;
            match ($action->do) {
                'emit' => $this->emitAs($action, array_map(fn ($name) => $this->held[$name], $action->anchors ?? ['input'])),
                'echo' => $this->emit(array_slice($tuple->values, 1), anchors: [$tuple]),
                'ack' => $this->ack($named),
                'fail' => $this->fail($named),
                'hold' => $this->held[$action->as] = $tuple,
                default => $this->common($action),
            };
        }
    }
}

/** Its library anchors and acks. */
final class TesteeBasicBolt extends Storm\BasicBolt
{
    use Testee;

    public function process(Tuple $tuple): void
    {
        $this->seen['tuple'] = $tuple;
        foreach (planOf($tuple) as $action) {
            match ($action->do) {
                'echo' => $this->emit(array_slice($tuple->values, 1)),
                'ack' => null,
                default => $this->common($action),
            };
        }
    }
}

/** Does for each command what conf says. */
final class TesteeSpout extends Storm\Spout
{
    use Testee {
        initialize as private keep;
    }

    private ?object $plan = null;
    private int $count = 0;
    private array $again = [];

    public function initialize(object $conf, object $context): void
    {
        $this->keep($conf, $context);
        $this->plan = $conf->{'mlcheck.testee'} ?? null;
        $this->seen['calls'] = [];
        $this->follow($this->plan->initialize ?? []);
    }

    private function follow(array $actions): void
    {
        foreach ($actions as $action) {
            $this->common($action);
            if ($action->do === 'tell' && $action->what === 'calls') {
                $this->seen['calls'] = [];
            }
        }
    }

    /** Remembers a call, and does what conf says about it. */
    private function called(string $command, mixed ...$id): void
    {
        $this->seen['calls'][] = [$command, ...$id];
        $actions = $this->plan->$command ?? [];
        $this->follow($command === 'next' ? $actions[$this->plan ? $this->count++ : 0] ?? [] : $actions);
    }

    public function nextTuple(): void
    {
        $this->called('next');
        if ($this->plan === null) {
            $id = array_shift($this->again) ?? (string) ++$this->count;
            $this->emit(["word $id"], id: $id);
        }
    }

    public function ack(mixed $id): void
    {
        $this->called('ack', $id);
    }

    public function fail(mixed $id): void
    {
        if ($this->plan === null && is_string($id)) {
            $this->again[] = $id;
        }
        $this->called('fail', $id);
    }

    public function activate(): void
    {
        $this->called('activate');
    }

    public function deactivate(): void
    {
        $this->called('deactivate');
    }
}

$classes = ['bolt' => TesteeBolt::class, 'basic' => TesteeBasicBolt::class, 'spout' => TesteeSpout::class];
(new $classes[$argv[1]]())->run();
