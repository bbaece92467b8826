<?php
// A bolt that is right. Each mistake is a change of it.

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

function process($tup) {
    $word = $tup['tuple'][0];
    send(['command' => 'emit', 'anchors' => [$tup['id']], 'tuple' => [$word], 'need_task_ids' => false]);
    send(['command' => 'ack', 'id' => $tup['id']]);
}

function initialize($conf) {
}

$setup = read_message();
touch($setup['pidDir'] . '/' . getmypid());
send(['pid' => getmypid()]);
initialize($setup['conf']);
$count = 0;
while (true) {
    $message = read_message();
    if (!isset($message['stream'])) continue;
    if ($message['stream'] === '__heartbeat') {
        send(['command' => 'sync']);
        continue;
    }
    $count += 1;
    process($message);
}
