"""A bolt that is right. Each mistake is a change of it."""

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


def process(tup):
    word = tup["tuple"][0]
    send({"command": "emit", "anchors": [tup["id"]], "tuple": [word], "need_task_ids": False})
    send({"command": "ack", "id": tup["id"]})


def initialize(conf):
    pass


setup = read()
open(f"{setup['pidDir']}/{os.getpid()}", "w").close()
send({"pid": os.getpid()})
initialize(setup["conf"])
count = 0
while True:
    message = read()
    if isinstance(message, list):
        continue
    if message["stream"] == "__heartbeat":
        send({"command": "sync"})
        continue
    count += 1
    process(message)
