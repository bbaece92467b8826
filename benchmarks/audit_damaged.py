"""``python -m benchmarks.audit_damaged``: a fuzz of damaged recordings, read and judged without Spark.

Bytes are changed, lost, put in, recordings mixed and cut, packed files torn. 1 if a line is lost that nothing is wrong
with, if one counts twice or not at all, or if anything is raised; the seed of such a file is printed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.options import parser_of
from tests.audit.damaged_files import damaged_file, wrong_in


def main() -> int:
    """Read as many as the command line says."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--files", type=int, default=2000, help="how many files")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.files):
            name, file, text = damaged_file(seed)
            path = Path(folder, name)
            path.write_bytes(file)
            try:
                wrong = wrong_in(path, text)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is what is looked for)
                wrong = [repr(error)]
            if wrong:
                bad += 1
                print(f"seed {seed}, {name}: {wrong[0]}", flush=True)
    print(f"{given.files} files, {bad} read wrongly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
