"""A spout that is right. Each mistake is a change of it."""

import json
import os
import sys


def read():
    lines = []
    while True:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        if line == "end\n":
            return json.loads("".join(lines))
        lines.append(line)


def send(message):
    sys.stdout.write(json.dumps(message) + "\nend\n")
    sys.stdout.flush()


setup = read()
open(f"{setup['pidDir']}/{os.getpid()}", "w").close()
send({"pid": os.getpid()})
count = 0
while True:
    message = read()
    if isinstance(message, list):
        continue
    if message["command"] == "next":
        count += 1
        send({"command": "emit", "id": f"m{count}", "tuple": ["word"], "need_task_ids": False})
    send({"command": "sync"})
