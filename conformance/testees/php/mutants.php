<?php

declare(strict_types=1);

/*
 * Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. They override what
 * the library reads and sends with.
 */

/** What becomes of a message that is sent: messages in its place, or text as it is. */
function mutated(string $bug, array $message, bool $failed): array
{
    $command = $message['command'] ?? '';
    $with = fn (string $key, mixed $value): array => array_key_exists($key, $message) ? [[$key => $value] + $message] : [$message];
    $each = fn (callable $change): array => $with('tuple', array_map($change, $message['tuple'] ?? []));
    return match (true) {
        $bug === 'ack-twice' && $command === 'ack', $bug === 'sync-twice' && $command === 'sync' => [$message, $message],
        $bug === 'ack-id-number' && $command === 'ack' => $with('id', (int) $message['id']),
        $bug === 'raise-acked' && $failed && $command === 'fail' => $with('command', 'ack'),
        $bug === 'fails-other' && $failed && $command === 'fail' => $with('id', '-1'),
        $bug === 'anchors-missing' => $with('anchors', []),
        $bug === 'anchors-object' => $with('anchors', (object) ($message['anchors'] ?? [])),
        $bug === 'tuple-object' => $with('tuple', (object) ($message['tuple'] ?? [])),
        $bug === 'task-string' => $with('task', (string) ($message['task'] ?? '')),
        $bug === 'log-map' => $with('msg', ['text' => $message['msg'] ?? '']),
        $bug === 'objects-arrays' => $each(fn ($value) => json_decode(json_encode($value), true)),
        $bug === 'float-integer' => $each(fn ($value) => is_float($value) && floor($value) === $value ? (int) $value : $value),
        $bug === 'id-number' => $with('id', is_numeric($message['id'] ?? '') ? $message['id'] + 0 : $message['id'] ?? 0),
        $bug === 'emit-unencodable' && preg_match('/\\\\u/', json_encode($message)) === 1 && $command === 'emit' => [],
        $bug === 'text-cut' => $each(fn ($value) => is_string($value) ? substr($value, 0, 65536) : $value),
        $bug === 'equal-unsent' && $command === 'emit' && again($message['tuple']) => [],
        $bug === 'prints' => ["sending\n", $message],
        $bug === 'pid-string' => $with('pid', (string) getmypid()),
        $bug === 'late-pid' && isset($message['pid']) => [['command' => 'log', 'msg' => 'starting'], $message],
        $bug === 'beats-ignored' && $command === 'sync' => [],
        $bug === 'warning' && $command === 'ack' => ["\nWarning: Undefined variable \$x in bolt.php on line 1\n", $message],
        default => [$message],
    };
}

/** True if the values are the same as those of the call before. */
function again(array $values): bool
{
    static $last = null;
    [$before, $last] = [$last, $values];
    return $before == $values;
}

trait Mutants
{
    private bool $failed = false;

    protected function send(array $message): void
    {
        if (getenv('MLCHECK_MUTANT') === 'retries-writes') {
            $rest = json_encode($message, JSON_PRESERVE_ZERO_FRACTION) . "\nend\n";
            for ($until = time() + 60; $rest !== '' && time() < $until;) { // not for ever: nobody may be there to end it
                $rest = substr($rest, (int) @fwrite(STDOUT, $rest));
            }
            return;
        }
        foreach (mutated((string) getenv('MLCHECK_MUTANT'), $message, $this->failed) as $each) {
            is_string($each) ? fwrite(STDOUT, $each) : parent::send($each);
        }
        $this->failed = ($message['command'] ?? '') === 'error';
        if (getenv('MLCHECK_MUTANT') === 'direct-waits' && isset($message['task'])) {
            while (is_object($read = $this->read())) {
                $this->meanwhile($read);
            }
        }
    }

    protected function read(): object|array
    {
        $message = parent::read();
        if (getenv('MLCHECK_MUTANT') === 'conf-wrong-key' && isset($message->conf)) {
            $message->conf = $message->config ?? (object) [];
        }
        if (getenv('MLCHECK_MUTANT') === 'equal-unread' && ($message->tuple ?? []) && again($message->tuple)) {
            return $this->read();
        }
        if (getenv('MLCHECK_MUTANT') === 'outlives') {
            register_shutdown_function(fn () => sleep(60)); // not for ever: nobody may be there to end it
        }
        return $message;
    }

    protected function meanwhile(object $message): void
    {
        if (getenv('MLCHECK_MUTANT') !== 'ids-drop-others') {
            parent::meanwhile($message);
        }
    }
}
