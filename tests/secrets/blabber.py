"""A bolt that was told no secret, and writes some of its own in forms that give them away; it breaks a rule as well."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

SECRET = "Zq4711hunterXw"  # noqa: S105 (planted)
KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    *[f"MIIE{SECRET}{SECRET}{n}" for n in range(4)],
    "-----END RSA PRIVATE KEY-----",
]
SAID = [
    f"localhost:5432:orders:app:{SECRET}",
    f"+ mysql -u root -p{SECRET} orders",
    f"Command '['load', '--password', '{SECRET}']' returned non-zero exit status 1.",
    f"Authorization: AWS app:{SECRET}",
    f"password: {SECRET}",
    f"INFO db.password = {SECRET}",
    f"the password is {SECRET}",
    f'{{"name":"DB_PASSWORD","value":"{SECRET}"}}',
    f"body=user%3Du%26password%3D{SECRET}%26x",
    f'Conf {{ user: "u", password: Some("{SECRET}") }}',
    *KEY,
]


def read() -> Any:
    lines: list[str] = []
    for line in sys.stdin:
        if line == "end\n":
            return json.loads("".join(lines))
        lines.append(line)
    sys.exit(0)


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\nend\n")
    sys.stdout.flush()


def main() -> None:
    Path(read()["pidDir"], str(os.getpid())).touch()
    say({"pid": os.getpid()})
    for text in SAID:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
        say({"command": "log", "msg": text})
    while True:
        message = read()
        if isinstance(message, list):
            continue
        if message["stream"] == "__heartbeat":
            say({"command": "sync"})
            continue
        for text in SAID:
            say({"command": "error", "msg": text})
        sys.stdout.write(SAID[0] + "\n")
        say({"command": "ack", "id": message["id"]})
        say({"command": "ack", "id": message["id"]})


main()
