#!/usr/bin/env node
// A bolt that splits sentences into words: the whole multilang protocol, with no library.
//
// Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line "end".
'use strict';

const fs = require('fs');
const path = require('path');

// Stdout belongs to the protocol: one stray console.log would break it. From here on it writes to stderr.
console.log = console.info = console.debug = console.error;

function send(message) {
  process.stdout.write(JSON.stringify(message) + '\nend\n');
}

// The first message: answer with our process id, and leave an empty file of that name in Storm's directory.
function handshake(hello) { // it also has conf, the configuration, and context, our place in the topology
  fs.writeFileSync(path.join(hello.pidDir, String(process.pid)), '');
  send({ pid: process.pid });
}

// Emit each word of the first value, anchored to the tuple it comes from; then ack that tuple, exactly once.
function processTuple(message) {
  const value = message.tuple.length > 0 ? message.tuple[0] : '';
  const sentence = typeof value === 'string' ? value : JSON.stringify(value);
  for (const word of sentence.split(/\s+/)) {
    if (word !== '') {
      // The anchor ties the word to its sentence: if the word gets lost, Storm replays the sentence.
      // need_task_ids false: we do not want to be told which tasks get the word.
      send({ command: 'emit', anchors: [message.id], tuple: [word], need_task_ids: false });
    }
  }
  send({ command: 'ack', id: message.id });
}

function handle(message) {
  if (Array.isArray(message)) {
    return; // task ids, the answer to an emit: we have no use for them
  }
  if (message.stream === '__heartbeat' && message.task === -1) {
    send({ command: 'sync' }); // Storm asks whether we live. This is no tuple: it must not be acked
  } else {
    processTuple(message);
  }
}

// Stdin comes in pieces that end anywhere: gather lines, and the lines of a message until the line "end".
let line = '';
let lines = [];
let next = (hello) => {
  handshake(hello);
  next = handle;
};

function takeLine(text) {
  if (text.replace(/\r$/, '') !== 'end') {
    lines.push(text);
    return;
  }
  const message = JSON.parse(lines.join('\n'));
  lines = [];
  next(message);
}

process.stdin.setEncoding('utf8'); // this also puts together characters that were cut in two
process.stdin.on('data', (piece) => {
  const parts = piece.split('\n');
  line += parts[0];
  for (const part of parts.slice(1)) {
    takeLine(line);
    line = part;
  }
});

// When Storm closes stdin the program has nothing left to do and exits. If Storm no longer reads, exit too.
process.stdout.on('error', () => process.exit(0));
