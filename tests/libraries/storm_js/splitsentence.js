const { BasicBolt } = require('./storm');

function SplitSentenceBolt() {
  BasicBolt.call(this);
}
SplitSentenceBolt.prototype = Object.create(BasicBolt.prototype);
SplitSentenceBolt.prototype.constructor = SplitSentenceBolt;

SplitSentenceBolt.prototype.process = function (tup, done) {
  for (const word of tup.values[0].split(' ')) {
    this.emit({ tuple: [word], anchorTupleId: tup.id }, () => {});
  }
  done();
};

new SplitSentenceBolt().run();
