// The testee of storm.js, Storm's own library for JavaScript: does what a tuple or conf tells it (see `mlcheck docs testees`).
'use strict';

const storm = require('./lib/storm');
require('./mutants').plant(storm, process.env.MLCHECK_MUTANT || '');

const LEVELS = { trace: 'logTrace', debug: 'logDebug', info: 'logInfo', warn: 'logWarn', error: 'logError' };

// The plan in a tuple's first value, undefined if there is none.
function planOf([first]) {
  const isPlan = Array.isArray(first) && first.length > 0 && first.every((each) => each && each.do !== undefined);
  return isPlan ? first : undefined;
}

function sleep(seconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
}

// What bolts and spouts have in common.
const testee = (Base) => class extends Base {
  initialize(conf, context, done) {
    this.conf = conf;
    this.context = context;
    this.taskIds = [];
    this.emits = 0;
    this.owed = 0;
    this.jobs = [];
    done();
  }

  // Do a job: its actions, in order, then `after`; wholly before the next one.
  follow(job) {
    this.jobs.push({ ...job, actions: [...job.actions] });
    this.goOn();
  }

  goOn() {
    while (this.jobs.length > 0) {
      const job = this.jobs[0];
      while (job.actions.length > 0) {
        // storm.js hands over task ids when they come: to tell them is to wait for them.
        if (job.actions[0].what === 'task_ids' && this.owed > 0) return;
        this.act(job.actions.shift(), job);
      }
      this.jobs.shift();
      if (job.after) job.after();
    }
  }

  act(action, job) {
    switch (action.do) {
      case 'emit': return this.emitAs(action, job);
      case 'tell': return this.send({ tuple: [action.what, this.seen(action.what, job)], stream: 'told' });
      case 'log': return this[LEVELS[action.level || 'info']](action.message);
      case 'raise': throw new Error(action.message);
      case 'sleep': return sleep(action.seconds);
      case 'exit': return process.exit(action.code);
      case 'print': return console.log(action.text);
      case 'stderr': return process.stderr.write('.'.repeat(action.bytes));
      default: throw new Error(`no such action: ${action.do}`);
    }
  }

  emitAs(action, job, more) {
    const details = { tuple: action.values, stream: action.stream, ...more };
    if (action.task === undefined) this.send(details);
    else this.emitDirect({ ...details, task: action.task });
  }

  send(details) {
    const count = (this.emits += 1);
    this.owed += 1;
    this.emit(details, (ids) => {
      this.owed -= 1;
      if (count === this.emits) this.taskIds = ids;
      this.goOn();
    });
  }

  // What the user's code sees.
  seen(what) {
    return { conf: this.conf, context: this.context, task_ids: this.taskIds }[what];
  }
};

// Settles as it is told: by the callback that comes with a tuple.
class Bolt extends testee(storm.BasicBolt) {
  initialize(conf, context, done) {
    this.held = new Map();
    super.initialize(conf, context, done);
  }

  process(tuple, done) {
    const emit = { do: 'emit', values: tuple.values };
    const echo = tuple.isTickTuple() ? [{ do: 'ack' }] : [emit, { do: 'ack' }];
    this.follow({ actions: planOf(tuple.values) || echo, tuple, done });
  }

  act(action, job) {
    switch (action.do) {
      case 'echo': return this.emitAs({ values: job.tuple.values.slice(1) }, job);
      case 'ack': return this.named(action.tuple, job).done();
      case 'fail': return this.named(action.tuple, job).done(new Error('told to fail'));
      case 'hold': return this.held.set(action.as, job);
      default: return super.act(action, job);
    }
  }

  named(name, job) {
    return name === undefined || name === 'input' ? job : this.held.get(name);
  }

  emitAs(action, job) {
    const anchors = action.anchors || ['input'];
    super.emitAs(action, job, { anchorTupleId: anchors.map((name) => this.named(name, job).tuple.id) });
  }

  seen(what, job) {
    if (what !== 'tuple') return super.seen(what);
    const { id, component, stream, task, values } = job.tuple;
    return { id, component, stream, task, values };
  }
}

// Does for each command what conf says.
class Spout extends testee(storm.Spout) {
  initialize(conf, context, done) {
    this.plan = conf['mlcheck.testee'];
    this.count = 0;
    this.calls = [];
    this.again = [];
    super.initialize(conf, context, () => this.follow({ actions: (this.plan && this.plan.initialize) || [], after: done }));
  }

  nextTuple(done) {
    this.called(done, 'next');
  }

  ack(id, done) {
    this.called(done, 'ack', id);
  }

  fail(id, done) {
    if (!this.plan && /^\d+$/.test(id)) this.again.push(id);
    this.called(done, 'fail', id);
  }

  activate(done) {
    this.called(done, 'activate');
  }

  deactivate(done) {
    this.called(done, 'deactivate');
  }

  // Remember a call, and do what conf says about it.
  called(done, command, ...id) {
    this.calls.push([command, ...id]);
    const actions = this.plan ? this.plan[command] || [] : [];
    if (command !== 'next') return this.follow({ actions, after: done });
    if (!this.plan) return this.follow({ actions: [this.word()], after: done });
    this.count += 1;
    return this.follow({ actions: actions[this.count - 1] || [], after: done });
  }

  // Without a plan: what failed, or the next word.
  word() {
    const id = this.again.length > 0 ? this.again.pop() : String((this.count += 1));
    return { do: 'emit', values: [`word ${id}`], id };
  }

  act(action, job) {
    super.act(action, job);
    if (action.what === 'calls') this.calls = [];
  }

  emitAs(action, job) {
    super.emitAs(action, job, { id: action.id });
  }

  seen(what) {
    return what === 'calls' ? this.calls : super.seen(what);
  }
}

new { bolt: Bolt, spout: Spout }[process.argv[2]]().run();
