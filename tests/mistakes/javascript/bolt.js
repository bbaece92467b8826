// A bolt that is right. Each mistake is a change of it.
const fs = require("fs");

let buffer = "";

function send(message) {
  fs.writeSync(1, JSON.stringify(message) + "\nend\n");
}

function process_(tup) {
  const word = tup.tuple[0];
  send({command: "emit", anchors: [tup.id], tuple: [word], need_task_ids: false});
  send({command: "ack", id: tup.id});
}

let count = 0;
let setup = null;

function take(message) {
  if (setup === null) {
    setup = message;
    fs.writeFileSync(`${setup.pidDir}/${process.pid}`, "");
    send({pid: process.pid});
    return;
  }
  if (Array.isArray(message)) return;
  if (message.stream === "__heartbeat") { send({command: "sync"}); return; }
  count += 1;
  process_(message);
}

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  buffer += chunk;
  const parts = buffer.split("\nend\n");
  buffer = parts.pop();
  for (const part of parts) take(JSON.parse(part));
});
