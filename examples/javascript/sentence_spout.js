#!/usr/bin/env node
// A spout that emits sentences, and again those that failed: the whole multilang protocol, with no library.
//
// Storm starts this program and talks to it over stdin and stdout. A message is JSON, a newline, and a line "end".
'use strict';

const fs = require('fs');
const path = require('path');

const SENTENCES = [
  'the cow jumped over the moon',
  'an apple a day keeps the doctor away',
  'four score and seven years ago',
  'snow white and the seven dwarfs',
  'i am at two with nature',
];

// Stdout belongs to the protocol: one stray console.log would break it. From here on it writes to stderr.
console.log = console.info = console.debug = console.error;

// What is still to be emitted, and what was emitted and is not yet acked: ids and their sentences.
const waiting = SENTENCES.map((sentence, index) => [String(index + 1), sentence]);
const pending = new Map();

function send(message) {
  process.stdout.write(JSON.stringify(message) + '\nend\n');
}

// Sleep in place: the answer to the next command must not overtake this one.
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

// The first message: answer with our process id, and leave an empty file of that name in Storm's directory.
function handshake(hello) { // it also has conf, the configuration, and context, our place in the topology
  fs.writeFileSync(path.join(hello.pidDir, String(process.pid)), '');
  send({ pid: process.pid });
}

const commands = {
  // Emit one sentence. Because it has an id, Storm will tell us its fate: ack or fail.
  next() {
    if (waiting.length === 0) {
      sleep(10); // nothing to emit: do not let Storm ask again at full speed
      return;
    }
    const [id, sentence] = waiting.shift();
    pending.set(id, sentence);
    // need_task_ids false: we do not want to be told which tasks get the sentence.
    send({ command: 'emit', id, tuple: [sentence], need_task_ids: false });
  },

  // Forget the sentence: every tuple made from it was processed.
  ack(id) {
    pending.delete(id);
  },

  // Put the sentence back: it was lost, or it took too long.
  fail(id) {
    if (pending.has(id)) {
      waiting.push([id, pending.get(id)]);
      pending.delete(id);
    }
  },

  activate() {},
  deactivate() {},
};

function handle(message) {
  if (Array.isArray(message)) {
    return; // task ids, the answer to an emit: we have no use for them
  }
  if (Object.hasOwn(commands, message.command)) {
    commands[message.command](message.id);
  }
  send({ command: 'sync' }); // each command is answered by exactly one sync, also those that need no work
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
