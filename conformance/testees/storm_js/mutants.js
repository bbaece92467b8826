// Bugs for the testee of storm.js, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml.
'use strict';

const fs = require('fs');

// --- what becomes of a message on its way out: none, one or several

const on = (command, change) => (message) => (message.command === command ? change(message) : [message]);

// Another value in a field, where it has that field.
const field = (command, name, change) =>
  on(command, (message) => [message[name] === undefined ? message : { ...message, [name]: change(message[name]) }]);

const values = (change) => field('emit', 'tuple', (old) => old.map(change));

const isOfType = (type, change) => (value) => (typeof value === type ? change(value) : value);

const MESSAGES = {
  'ack-twice': on('ack', (message) => [message, message]),
  'ack-missing': on('ack', () => []),
  'ack-all': on('ack', (message) => [{ command: message.command }]),
  'ack-id-number': field('ack', 'id', Number),
  'ack-id-rounded': field('ack', 'id', (id) => BigInt(Number(id)).toString()),
  'fail-as-ack': field('fail', 'command', () => 'ack'),
  'fail-missing': on('fail', () => []),
  'anchors-missing': field('emit', 'anchors', () => []),
  'anchors-nested': field('emit', 'anchors', (old) => [old]),
  'anchors-undefined': field('emit', 'anchors', (old) => old.map(() => undefined)),
  'anchors-text': field('emit', 'anchors', (old) => old.join()),
  'tuple-object': field('emit', 'tuple', (old) => ({ ...old })),
  'tuple-bare': field('emit', 'tuple', (old) => (old.length === 1 ? old[0] : old)),
  'stream-missing': on('emit', ({ stream, ...rest }) => [rest]),
  'task-missing': on('emit', ({ task, ...rest }) => [rest]),
  'task-list': field('emit', 'task', (task) => [task]),
  'falsy-id-lost': field('emit', 'id', (id) => id || undefined),
  'falsy-values-null': values((value) => value || null),
  'id-text': field('emit', 'id', String),
  'float-fixed': values(isOfType('number', (value) => Number(value.toFixed(2)))),
  'integer-32': values(isOfType('number', (value) => (Number.isInteger(value) ? value | 0 : value))),
  'object-text': values((value) => (value && typeof value === 'object' ? String(value) : value)),
  'text-escaped': values(isOfType('string', (value) => value.replace(/[<>"]/g, (c) => `&#${c.charCodeAt(0)};`))),
  'text-uri': values(isOfType('string', encodeURIComponent)),
  'surrogates-halved': values(isOfType('string', (value) => value.replace(/[\udc00-\udfff]/g, ''))),
  'unencodable-dropped': on('emit', (message) => (/^[ -~]*$/.test(JSON.stringify(message)) ? [message] : [])),
  'log-map': field('log', 'msg', (text) => ({ text })),
  'log-level': field('log', 'level', () => 2),
  'log-error': field('log', 'command', () => 'error'),
  'sync-twice': on('sync', (message) => [message, message]),
  'sync-named': field('sync', 'command', () => 'Sync'),
  'pid-list': (message) => [message.pid ? { pid: [message.pid] } : message],
};

// --- bugs that are no change of one message. Each is given storm.js, and the prototype of bolts and spouts.

function changeMessages(base, change) {
  const send = base.sendMsgToParent;
  base.sendMsgToParent = function (message) {
    change(message).forEach((each) => send.call(this, each));
  };
}

// The text of messages, but for the pid, is written otherwise.
function writeAs(base, form) {
  const send = base.sendMsgToParent;
  base.sendMsgToParent = function (message) {
    if (message.pid) send.call(this, message);
    else process.stdout.write(form(message));
  };
}

// Messages reach the library otherwise.
function receiveAs(base, change) {
  const handle = base.handleNewMessage;
  base.handleNewMessage = function (text) {
    handle.call(this, change(text));
  };
}

// Input is read as it comes, each piece by itself.
function readPieces(base, decode) {
  base.startReadingInput = function () {
    process.stdin.setEncoding('latin1');
    process.stdin.on('data', (piece) => {
      this.handleNewChunk(decode(Buffer.from(piece, 'latin1'))).forEach((message) => this.handleNewMessage(message));
    });
  };
}

function heldBack(base) {
  const send = base.sendMsgToParent;
  const kept = [];
  base.sendMsgToParent = function (message) {
    kept.push(message);
    while (kept.length > 1 || (kept[0] && kept[0].pid)) send.call(this, kept.shift());
  };
}

function emitsLater(base) {
  const send = base.sendMsgToParent;
  base.sendMsgToParent = function (message) {
    if (message.command === 'emit') setTimeout(() => send.call(this, message), 20);
    else send.call(this, message);
  };
}

function silentAfter(storm, ...names) {
  const handle = storm.Spout.prototype.handleNewCommand;
  storm.Spout.prototype.handleNewCommand = function (message) {
    const sync = this.sync;
    if (names.includes(message.command)) this.sync = () => {};
    handle.call(this, message);
    this.sync = sync;
  };
}

// What is thrown in process goes to the callback.
function rescued(storm, settle) {
  const handle = storm.BasicBolt.prototype.handleNewCommand;
  storm.BasicBolt.prototype.handleNewCommand = function (message) {
    try {
      handle.call(this, message);
    } catch (error) {
      settle.call(this, message);
    }
  };
}

function beatsLostInWait(storm) {
  const handle = storm.BasicBolt.prototype.handleNewCommand;
  storm.BasicBolt.prototype.handleNewCommand = function (message) {
    if (message.stream !== '__heartbeat' || this.taskIdsCallbacks.length === 0) handle.call(this, message);
  };
}

function unwrapped(storm, seen) {
  const handle = storm.BasicBolt.prototype.handleNewCommand;
  storm.BasicBolt.prototype.handleNewCommand = function (message) {
    handle.call(this, seen(message));
  };
}

function pidFile(base, name, content) {
  base.sendPid = function (folder) {
    if (name) fs.writeFileSync(`${folder}/${name}`, content);
    this.sendMsgToParent({ pid: process.pid });
  };
}

const never = () => setInterval(() => {}, 1000);

const OTHERS = {
  'held-back': (storm, base) => heldBack(base),
  'emits-later': (storm, base) => emitsLater(base),
  'undefined-said': (storm, base) => writeAs(base, (m) => `${JSON.stringify(m.command === 'ack' ? undefined : m)}\nend\n`),
  'util-inspect': (storm, base) => writeAs(base, (message) => `${require('util').inspect(message)}\nend\n`),
  'end-missing': (storm, base) => writeAs(base, (message) => `${JSON.stringify(message)}\n`),
  'two-in-one': (storm, base) => writeAs(base, (message) => `${JSON.stringify(message).repeat(2)}\nend\n`),
  'latin-1': (storm, base) => writeAs(base, (message) => Buffer.from(`${JSON.stringify(message)}\nend\n`, 'latin1')),
  'pieces-decoded-apart': (storm, base) => readPieces(base, (piece) => piece.toString('utf8')),
  'piece-is-message': (storm, base) => {
    base.handleNewChunk = (chunk) => (chunk ? [chunk.replace(/\nend\n$/, '')] : []);
  },
  'first-of-piece': (storm, base) => {
    const parts = base.handleNewChunk;
    base.handleNewChunk = function (chunk) {
      return parts.call(this, chunk).slice(0, 1);
    };
  },
  'ascii-input': (storm, base) => readPieces(base, (piece) => piece.toString('latin1').replace(/[^ -~\n]/g, '?')),
  'trimmed': (storm) => unwrapped(storm, (m) => ({ ...m, tuple: m.tuple.map(isOfType('string', (v) => v.trim())) })),
  'seen-id-number': (storm) => unwrapped(storm, (message) => ({ ...message, id: Number(message.id) })),
  'seen-comp': (storm) => unwrapped(storm, (message) => ({ ...message, comp: undefined })),
  'beats-acked': (storm) => {
    storm.Tuple.prototype.isHeartbeatTuple = () => false;
  },
  'beats-ignored': (storm) => {
    storm.BasicBolt.prototype.sync = () => {};
  },
  'beats-lost-in-wait': (storm) => beatsLostInWait(storm),
  'ticks-ignored': (storm) => {
    storm.Tuple.prototype.isHeartbeatTuple = function () {
      return this.task === -1;
    };
  },
  'direct-waits': (storm, base) => {
    base.emitDirect = base.emitDirect && function (details) {
      this.taskIdsCallbacks.push(() => {});
      this.__emit(details);
    };
  },
  'ids-crossed': (storm, base) => {
    base.handleNewTaskId = function (ids) {
      this.taskIdsCallbacks.pop()(ids);
    };
  },
  'ids-as-tuples': (storm, base) => {
    base.isTaskIds = () => false;
  },
  'ids-empty-lost': (storm, base) => {
    const handle = base.handleNewTaskId;
    base.handleNewTaskId = function (ids) {
      if (ids.length > 0) handle.call(this, ids);
    };
  },
  'prints': (storm) => unwrapped(storm, (message) => (console.log('got', message.id), message)),
  'raise-acked': (storm) => rescued(storm, function (message) { this.ack(message); }),
  'raise-fails-last': (storm) => {
    const ack = storm.BasicBolt.prototype.ack;
    storm.BasicBolt.prototype.ack = function (tuple) {
      this.last = tuple;
      ack.call(this, tuple);
    };
    rescued(storm, function () { this.fail(this.last || {}); });
  },
  'no-pid-file': (storm, base) => pidFile(base, ''),
  'pid-file-other': (storm, base) => pidFile(base, 'pid', ''),
  'pid-missing': (storm, base) => {
    base.sendPid = function () {};
  },
  'conf-wrong-key': (storm, base) => receiveAs(base, (text) => text.replace('"conf":', '"config":{},"conf":{},"old":')),
  'timer-outlives': never,
  'outlives-sigterm': () => {
    never(); // not in the handler: Node.js may come to the end of stdin before the signal
    process.on('SIGTERM', () => {});
  },
  'silent-activate': (storm) => silentAfter(storm, 'activate', 'deactivate'),
  'silent-fail': (storm) => silentAfter(storm, 'fail'),
  'sync-first': (storm) => {
    const next = storm.Spout.prototype.handleNewCommand;
    storm.Spout.prototype.handleNewCommand = function (message) {
      const sync = this.sync;
      process.stdout.cork(); // one write, or Storm's next command could come in between
      sync.call(this);
      this.sync = () => {};
      next.call(this, message);
      this.sync = sync;
      process.stdout.uncork();
    };
  },
};

// Plant the bug of this name, none for ''. Ends the process if there is none of that name.
exports.plant = (storm, name) => {
  const base = Object.getPrototypeOf(storm.Spout.prototype);
  if (MESSAGES[name]) changeMessages(base, MESSAGES[name]);
  else if (OTHERS[name]) OTHERS[name](storm, base);
  else if (name) throw new Error(`no such mutant: ${name}`);
};
