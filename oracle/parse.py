"""What a Storm version's own JSON parser makes of texts: ``oracle/parse.py --storm 2.8.3 <TEXTS >ANSWERS``.

TEXTS has a JSON string a line. For each, a line {"value": ...} or {"error": ...} comes out, in the form of the answers
in tests/data/dialects.json: every part of a value with its Java class, doubles as Python writes them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from multilang_cli.verify.oracle_program import OracleError, answers


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


def parse(version: str, texts: list[str]) -> list[dict[str, Any]]:
    """The answers of Storm `version` on `texts`. Raises OracleError if it gave none."""
    typed = answers(version, "Parse", texts)
    return [{"value": plain(answer["value"])} if "value" in answer else answer for answer in typed]


def main() -> int:
    """Run the command line; 0 when every text was answered, 2 when not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--storm", required=True, metavar="VERSION", help="a published Storm version")
    options = parser.parse_args()
    try:
        found = parse(options.storm, [json.loads(line) for line in sys.stdin])
    except OracleError as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    sys.stdout.writelines(json.dumps(answer) + "\n" for answer in found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
