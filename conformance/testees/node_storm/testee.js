// The testee of node-storm: does what a tuple or conf tells it (see `mlcheck docs testees`).
'use strict';

const storm = require('./lib/node_modules/node-storm');

const task = { ids: [], emits: 0, owed: 0, jobs: [] };

// The plan in a tuple's first value, undefined if there is none.
function planOf([first]) {
  const isPlan = Array.isArray(first) && first.length > 0 && first.every((each) => each && each.do !== undefined);
  return isPlan ? first : undefined;
}

function sleep(seconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
}

// Do a job: its actions, in order, then `after`; wholly before the next one.
function follow(job) {
  task.jobs.push({ ...job, actions: [...job.actions] });
  goOn();
}

function goOn() {
  while (task.jobs.length > 0) {
    const job = task.jobs[0];
    while (job.actions.length > 0) {
      // node-storm promises task ids: to tell them is to wait for them.
      if (job.actions[0].what === 'task_ids' && task.owed > 0) return;
      const action = job.actions.shift();
      try {
        job.act(action, job);
      } catch (error) {
        task.jobs.shift();
        throw error;
      }
    }
    task.jobs.shift();
    if (job.after) job.after();
  }
}

// What bolts and spouts have in common. `seen`: what the user's code sees, by its name.
function act(action, collector, emit, seen) {
  switch (action.do) {
    case 'emit': return emit(action);
    case 'tell': return send(collector, [action.what, seen()[action.what]], { stream: 'told' });
    case 'log': return collector.log(action.message);
    case 'raise': throw new Error(action.message);
    case 'sleep': return sleep(action.seconds);
    case 'exit': return process.exit(action.code);
    case 'print': return console.log(action.text);
    case 'stderr': return process.stderr.write('.'.repeat(action.bytes));
    default: throw new Error(`no such action: ${action.do}`);
  }
}

function send(collector, values, options) {
  if (options.task !== undefined) return collector.emit(values, options);
  const count = (task.emits += 1);
  task.owed += 1;
  return collector.emit(values, options).then((ids) => {
    task.owed -= 1;
    if (count === task.emits) task.ids = ids;
    goOn();
  }).done();
}

// The keys of an action that are options of an emit too.
function options(action, ...names) {
  return Object.fromEntries(names.filter((name) => name in action).map((name) => [name, action[name]]));
}

// --- bolts

const held = {};

// What a bolt does about one action of a job. `anchored`: the options of an emit with its anchors.
function actOfBolt(collector, anchored) {
  return (action, { data }) => {
    const emit = (what) => send(collector, what.values, { ...options(what, 'stream', 'task'), ...anchored(what) });
    const seen = () => ({
      tuple: { id: data.id, component: data.comp, stream: data.stream, task: data.task, values: data.tuple },
      conf: collector.context().config(),
      task_ids: task.ids,
    });
    switch (action.do) {
      case 'echo': return emit({ values: data.tuple.slice(1) });
      case 'ack': return collector.ack(held[action.tuple || 'input']);
      case 'fail': return collector.fail(held[action.tuple || 'input']);
      case 'hold': return (held[action.as] = data);
      default: return act(action, collector, emit, seen);
    }
  };
}

// Settles as it is told.
const bolt = storm.bolt(function (data) {
  const anchored = ({ anchors = ['input'] }) => ({ anchors: anchors.map((name) => held[name].id) });
  const one = actOfBolt(this, anchored);
  const settled = [{ do: 'ack' }];
  const echo = data.stream === '__tick' ? settled : [{ do: 'emit', values: data.tuple }, ...settled];
  const actions = planOf(data.tuple) || echo;
  follow({
    data,
    actions,
    act: (action, job) => {
      held.input = data;
      one(action, job);
    },
  });
});

// Its library anchors and acks.
const basic = storm.basicbolt(function (data) {
  const actions = planOf(data.tuple) || (data.stream === '__tick' ? [] : [{ do: 'emit', values: data.tuple }]);
  follow({ data, actions, act: actOfBolt(this, () => ({})) });
});

// --- the spout

const spouts = { count: 0, calls: [], again: [] };

// Remember a call, and do what conf says about it.
function called(after, command, ...id) {
  spouts.calls.push([command, ...id]);
  const plan = spout.collector.context().config('mlcheck.testee');
  const actions = plan ? plan[command] || [] : [];
  if (command !== 'next') return follow({ actions, act: actOfSpout, after });
  if (!plan) return follow({ actions: [word()], act: actOfSpout, after });
  spouts.count += 1;
  return follow({ actions: actions[spouts.count - 1] || [], act: actOfSpout, after });
}

// Without a plan: what failed, or the next word.
function word() {
  const id = spouts.again.length > 0 ? spouts.again.pop() : String((spouts.count += 1));
  return { do: 'emit', values: [`word ${id}`], id };
}

function actOfSpout(action) {
  const { collector } = spout;
  const emit = (what) => send(collector, what.values, options(what, 'id', 'stream', 'task'));
  const seen = () => ({ conf: collector.context().config(), task_ids: task.ids, calls: spouts.calls });
  act(action, collector, emit, seen);
  if (action.what === 'calls') spouts.calls = [];
}

const spout = storm.spout((sync) => called(sync, 'next'))
  .on('prepare', (context) => {
    const plan = context.config('mlcheck.testee');
    follow({ actions: (plan && plan.initialize) || [], act: actOfSpout });
  })
  .on('ack', ({ id }) => called(undefined, 'ack', id))
  .on('fail', ({ id }) => {
    if (!spout.collector.context().config('mlcheck.testee') && /^\d+$/.test(id)) spouts.again.push(id);
    called(undefined, 'fail', id);
  })
  .on('activate', () => called(undefined, 'activate'))
  .on('deactivate', () => called(undefined, 'deactivate'));

const topology = storm.topologybuilder();
topology.setBolt('node-storm-bolt', bolt).shuffleGrouping('node-storm-spout');
topology.setBolt('node-storm-basic', basic).shuffleGrouping('node-storm-spout');
topology.setSpout('node-storm-spout', spout);
storm.submit(topology.createTopology(), { nimbus: 'localhost:6627' }).done();
