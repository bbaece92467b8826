"""What a Storm version's own JSON parser makes of texts: ``oracle/parse.py --storm 2.8.3 <TEXTS >ANSWERS``.

TEXTS has a JSON string a line. For each, a line {"value": ...} or {"error": ...} comes out, in the form of the answers
in tests/data/dialects.json: every part of a value with its Java class, doubles as Python writes them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from multilang_cli.workbench.oracle_program import OracleError, build, java

SECONDS = 600


def plain(typed: Any) -> Any:
    """A typed value with its doubles written as Python writes them: Java's 1.0E10 is 10000000000.0 here."""
    match typed:
        case ["Double", text]:
            return ["Double", repr(float(text))]
        case [name, list(items)]:
            return [name, [plain(item) for item in items]]
        case [name, dict(items)]:
            return [name, {key: plain(item) for key, item in items.items()}]
    return typed


def parse(version: str, texts: str) -> list[dict[str, Any]]:
    """The answers of Storm `version` on `texts`, a JSON string a line. Raises OracleError if it gave none."""
    command = [*java(version, build(version)), "mlcheck.oracle.Parse"]
    try:
        done = subprocess.run(
            command, input=texts, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise OracleError(f"the parser of Storm {version} gave no answer within {SECONDS} s") from None
    if done.returncode != 0:
        raise OracleError(f"the parser of Storm {version} could not be asked:\n{done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [{"value": plain(answer["value"])} if "value" in answer else answer for answer in answers]


def main() -> int:
    """Run the command line; 0 when every text was answered, 2 when not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--storm", required=True, metavar="VERSION", help="a published Storm version")
    options = parser.parse_args()
    try:
        answers = parse(options.storm, sys.stdin.read())
    except OracleError as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    sys.stdout.writelines(json.dumps(answer) + "\n" for answer in answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
