// A spout that is right. Each mistake is a change of it.
const fs = require("fs");

let buffer = "";
let count = 0;
let setup = null;

function send(message) {
  fs.writeSync(1, JSON.stringify(message) + "\nend\n");
}

function take(message) {
  if (setup === null) {
    setup = message;
    fs.writeFileSync(`${setup.pidDir}/${process.pid}`, "");
    send({pid: process.pid});
    return;
  }
  if (Array.isArray(message)) return;
  if (message.command === "next") {
    count += 1;
    send({command: "emit", id: `m${count}`, tuple: ["word"], need_task_ids: false});
  }
  send({command: "sync"});
}

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  buffer += chunk;
  const parts = buffer.split("\nend\n");
  buffer = parts.pop();
  for (const part of parts) take(JSON.parse(part));
});
