"""Which tasks a Storm version's own groupings choose: ``oracle/choose.py --storm 2.8.3 <TEXTS >ANSWERS``.

TEXTS has a JSON string a line, the text of an array of values. For each, a line comes out, in the form of the answers
in tests/data/groupings.json: the choices among 1, 2, ... 8 tasks, from 0, by fields grouping and partial key grouping.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from multilang_cli.verify.oracle_program import OracleError, answers


def main() -> int:
    """Run the command line; 0 when every text was answered, 2 when not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--storm", required=True, metavar="VERSION", help="a published Storm version")
    options = parser.parse_args()
    try:
        found = answers(options.storm, "Choose", [json.loads(line) for line in sys.stdin])
    except OracleError as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    sys.stdout.writelines(json.dumps(answer) + "\n" for answer in found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
