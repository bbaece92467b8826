const { Spout } = require('./storm');

const SENTENCES = ['the cow jumped over the moon', 'an apple a day keeps the doctor away', 'four score and seven years ago'];

function SentenceSpout() {
  Spout.call(this);
  this.waiting = SENTENCES.map((sentence, number) => [String(number), sentence]);
  this.pending = new Map();
}
SentenceSpout.prototype = Object.create(Spout.prototype);
SentenceSpout.prototype.constructor = SentenceSpout;

SentenceSpout.prototype.nextTuple = function (done) {
  if (this.waiting.length === 0) {
    setTimeout(done, 5);
    return;
  }
  const [id, sentence] = this.waiting.shift();
  this.pending.set(id, sentence);
  this.emit({ tuple: [sentence], id }, () => {});
  done();
};

SentenceSpout.prototype.ack = function (id, done) {
  this.pending.delete(id);
  done();
};

SentenceSpout.prototype.fail = function (id, done) {
  if (this.pending.has(id)) {
    this.waiting.push([id, this.pending.get(id)]);
    this.pending.delete(id);
  }
  done();
};

module.exports = { SentenceSpout };
if (require.main === module) {
  new SentenceSpout().run();
}
