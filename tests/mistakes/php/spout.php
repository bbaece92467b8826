<?php
// A spout that is right. Each mistake is a change of it.

function read_message() {
    $text = '';
    while (true) {
        $line = fgets(STDIN);
        if ($line === false) exit(0);
        if ($line === "end\n") return json_decode($text, true);
        $text .= $line;
    }
}

function send($message) {
    fwrite(STDOUT, json_encode($message) . "\nend\n");
}

$setup = read_message();
touch($setup['pidDir'] . '/' . getmypid());
send(['pid' => getmypid()]);
$count = 0;
while (true) {
    $message = read_message();
    if (!isset($message['command'])) continue;
    if ($message['command'] === 'next') {
        $count += 1;
        send(['command' => 'emit', 'id' => "m$count", 'tuple' => ['word'], 'need_task_ids' => false]);
    }
    send(['command' => 'sync']);
}
