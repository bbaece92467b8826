<?php

declare(strict_types=1);

/*
 * Apache Storm's multilang protocol, for bolts and spouts that Storm starts as subprocesses: extend Storm\Bolt,
 * Storm\BasicBolt or Storm\Spout, and call run(). A message is JSON in UTF-8, a newline, and a line "end", on stdin and
 * stdout. An object of JSON is a stdClass, an array is a list. What is printed goes to stderr.
 */

namespace Storm;

/** What a bolt is given. A tick has the component "__system" and the stream "__tick". */
final class Tuple
{
    public function __construct(
        public readonly string $id,
        public readonly ?string $component,
        public readonly string $stream,
        public readonly int $task,
        public readonly array $values,
    ) {}
}

abstract class Component
{
    private const JSON = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    /** The anchors of each emit of a basic bolt. */
    protected array $always = [];

    /** Called once, before anything else. */
    public function initialize(object $conf, object $context): void {}

    /** Does what Storm asks for in this message. */
    abstract protected function turn(object $message): void;

    /** Takes what comes while task ids are awaited. */
    abstract protected function meanwhile(object $message): void;

    /** Works until Storm closes the pipe. */
    final public function run(): void
    {
        // Stdout belongs to the protocol: a stray echo, or a warning of PHP, would break it.
        ini_set('display_errors', 'stderr');
        ob_start(fn (string $text): string => substr($text, (int) fwrite(STDERR, $text)), 1);
        $hello = $this->read();
        touch("$hello->pidDir/" . getmypid());
        $this->send(['pid' => getmypid()]);
        $this->initialize($hello->conf, $hello->context);
        while (true) {
            $this->turn($this->read());
        }
    }

    /**
     * Sends a tuple on: $this->emit(['word'], stream: 'words'). `task`: the one task that gets it, on a direct stream.
     * `taskIds`: to be given the tasks that get it; a direct emit has none. Bolts: `anchors`, tuples that are replayed if
     * this is lost. Spouts: `id`, what ack or fail is to be called with.
     */
    public function emit(
        array $values,
        ?string $stream = null,
        ?int $task = null,
        bool $taskIds = false,
        array $anchors = [],
        mixed $id = null,
    ): ?array {
        $taskIds = $taskIds && $task === null;
        $message = ['command' => 'emit', 'tuple' => array_values($values), 'need_task_ids' => $taskIds];
        $message['anchors'] = array_column([...$anchors, ...$this->always], 'id');
        $this->send($message + array_filter(['stream' => $stream, 'task' => $task, 'id' => $id], fn ($value) => $value !== null));
        while ($taskIds) {
            $answer = $this->read();
            if (is_array($answer)) {
                return $answer;
            }
            $this->meanwhile($answer);
        }
        return null;
    }

    /** Writes to the worker's log, at level 0 to 4: trace, debug, info, warn, error. */
    public function log(string $text, int $level = 2): void { $this->send(['command' => 'log', 'msg' => $text, 'level' => $level]); }

    /** Shows a text in Storm's UI; fails no tuple and stops nothing. */
    public function reportError(string $text): void { $this->send(['command' => 'error', 'msg' => $text]); }

    /** Reads a message; answers heartbeats, which are no tuples and must not be acked. */
    protected function read(): object|array
    {
        $text = '';
        while (($line = fgets(STDIN)) !== false) {
            if (rtrim($line) !== 'end') {
                $text .= $line;
                continue;
            }
            $message = json_decode($text, flags: JSON_THROW_ON_ERROR);
            if (is_array($message) || ($message->stream ?? '') !== '__heartbeat' || $message->task !== -1) {
                return $message;
            }
            $this->send(['command' => 'sync']);
            $text = '';
        }
        exit(0); // Storm has closed the pipe: the worker is gone
    }

    /** Writes a message at once and whole. */
    protected function send(array $message): void
    {
        fwrite(STDOUT, json_encode($message, self::JSON) . "\nend\n") !== false || exit(0); // Storm no longer reads
    }
}

/** A bolt acks or fails each tuple exactly once, now or later. After an exception the tuple is failed. */
abstract class Bolt extends Component
{
    private array $waiting = [];
    private array $open = [];

    abstract public function process(Tuple $tuple): void;

    /** Says that the work on a tuple is done. Once only: Storm's worker would die of a second time. */
    public function ack(Tuple $tuple): void { $this->settle('ack', $tuple); }

    /** Gives a tuple up: Storm replays it. */
    public function fail(Tuple $tuple): void { $this->settle('fail', $tuple); }

    private function settle(string $command, Tuple $tuple): void
    {
        isset($this->open[$tuple->id]) || throw new \LogicException("cannot $command tuple $tuple->id: it is settled already");
        unset($this->open[$tuple->id]);
        $this->send(['command' => $command, 'id' => $tuple->id]);
    }

    protected function meanwhile(object $message): void { $this->waiting[] = $message; }

    protected function turn(object $message): void
    {
        for ($this->waiting[] = $message; $m = array_shift($this->waiting);) {
            $tuple = new Tuple($m->id, $m->comp, $m->stream, $m->task, $m->tuple);
            $this->open[$m->id] = true;
            try {
                $this->work($tuple);
            } catch (\Throwable $thrown) {
                $this->reportError((string) $thrown);
                isset($this->open[$m->id]) && $this->fail($tuple);
            }
        }
    }

    protected function work(Tuple $tuple): void { $this->process($tuple); }
}

/** A bolt whose emits are anchored to the tuple in process; that is acked when process returns. */
abstract class BasicBolt extends Bolt
{
    protected function work(Tuple $tuple): void
    {
        $this->always = [$tuple];
        $this->process($tuple);
        $this->ack($tuple);
    }
}

/** A spout answers Storm's calls. Each may emit; what it throws is reported. */
abstract class Spout extends Component
{
    /** Emits a tuple or a few, and returns soon; sleeps a little if there is nothing. */
    abstract public function nextTuple(): void;

    public function ack(mixed $id): void {}
    public function fail(mixed $id): void {}
    public function activate(): void {}
    public function deactivate(): void {}

    protected function turn(object $message): void
    {
        try {
            match ($message->command) {
                'next' => $this->nextTuple(),
                'ack' => $this->ack($message->id),
                'fail' => $this->fail($message->id),
                'activate' => $this->activate(),
                'deactivate' => $this->deactivate(),
            };
        } catch (\Throwable $thrown) {
            $this->reportError((string) $thrown);
        }
        $this->send(['command' => 'sync']); // exactly one, whatever happened: Storm waits for it
    }

    protected function meanwhile(object $message): void { $this->turn($message); } // without ackers, Storm calls ack from within an emit
}
