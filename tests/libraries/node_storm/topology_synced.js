// The same topology, where the spout itself sends the syncs that node-storm leaves out.
const { spout, submit } = require('./topology');

for (const command of ['ack', 'fail', 'activate', 'deactivate']) {
  spout.on(command, () => spout.collector.sync());
}
submit().fail(console.error);
