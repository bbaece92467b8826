"""Asks real Storm about scripts of your own: ``oracle/run.py --storm 2.8.3 --cases FILE... --out FILE``.

The verdicts are written, in the format of conformance/oracle/verdicts.json, when all of them are there. ``--storm`` may
be repeated: the versions are asked one after the other and share the file. With ``--update`` what FILE says of other
cases and versions stays. The recorded scripts are played, compared and recorded by ``mlcheck verify-storm``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from multilang_cli.catalogue.locate import data_path
from multilang_cli.verify.oracle_program import OracleError, ask, build, java
from multilang_cli.verify.records import render, updated, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OracleError", "ask", "build", "java"]

DATA = data_path("conformance", "oracle")
CASES = (DATA / "cases.json", DATA / "more-cases.json")


def read_cases(files: Sequence[Path]) -> list[dict[str, Any]]:
    """All cases of `files`, each a JSON list of cases. Raises OracleError if two have the same name."""
    cases: list[dict[str, Any]] = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    names = Counter(case["case"] for case in cases)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise OracleError(f"two cases are called {twice[0]}")
    return cases


def choose(cases: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """The cases called `names`, or all. Raises OracleError if there is no such case."""
    known = {case["case"] for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise OracleError(f"there is no script {unknown[0]!r}")
    return [case for case in cases if not names or case["case"] in names]


def main() -> int:
    """Run the command line; 0 when the file was written, 2 when not, 130 when interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--storm", action="append", required=True, metavar="VERSION", help="a published Storm version")
    parser.add_argument("--cases", type=Path, nargs="+", default=CASES, metavar="FILE", help="JSON lists of cases")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="play these cases only")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many JVMs play at the same time")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the verdicts go")
    parser.add_argument("--update", action="store_true", help="keep what is in the file of other cases and versions")
    options = parser.parse_args()
    try:
        cases = choose(read_cases(options.cases), options.only)
        answers = {version: ask(version, cases, options.jobs) for version in options.storm}
        names = [case["case"] for case in cases]
        verdicts = {name: {v: answers[v][name] for v in options.storm} for name in names}
        if options.update:
            verdicts = updated(json.loads(options.out.read_text(encoding="utf-8")), verdicts)
        write_whole(options.out, render(verdicts))
    except (OracleError, OSError, json.JSONDecodeError) as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
