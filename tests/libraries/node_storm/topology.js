// A worker of node-storm is its whole topology: the task id of the handshake tells which component it is.
const storm = require('node-storm');

const SENTENCES = ['the cow jumped over the moon', 'an apple a day keeps the doctor away', 'four score and seven years ago'];
const waiting = SENTENCES.map((sentence, number) => [String(number), sentence]);
const pending = new Map();

const spout = storm.spout(function (sync) {
  if (waiting.length === 0) {
    setTimeout(sync, 5);
    return;
  }
  const [id, sentence] = waiting.shift();
  pending.set(id, sentence);
  this.emit([sentence], { id });
  sync();
}).declareOutputFields(['sentence'])
  .on('ack', (data) => pending.delete(data.id))
  .on('fail', (data) => {
    if (pending.has(data.id)) {
      waiting.push([data.id, pending.get(data.id)]);
      pending.delete(data.id);
    }
  });

const bolt = storm.basicbolt(function (data) {
  for (const word of data.tuple[0].split(' ')) {
    this.emit([word]);
  }
}).declareOutputFields(['word']);

const builder = storm.topologybuilder();
builder.setSpout('spout', spout);
builder.setBolt('bolt', bolt).shuffleGrouping('spout');

module.exports = { spout, submit: () => storm.submit(builder.createTopology(), { nimbus: 'localhost:6627' }) };
if (require.main === module) {
  module.exports.submit().fail(console.error);
}
