// The same spout, with activate and deactivate as Storm's own example has them: storm.js's own never call done.
const { SentenceSpout } = require('./sentences');

SentenceSpout.prototype.activate = (done) => done();
SentenceSpout.prototype.deactivate = (done) => done();

new SentenceSpout().run();
