"""Real Storm as a host: ``MLCHECK_FEED=FILE oracle/host.py VERSION COMPONENT...``, to be judged by ``mlcheck host``.

It becomes the Java program, so that signals reach that. The topology is the one of conformance/example-topology.yaml.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from multilang_cli.verify.oracle_program import OracleError, build, java


def main() -> int:
    """Build the program for the version if need be, and become it; 2 if that can't be done."""
    if len(sys.argv) < 3:  # noqa: PLR2004 (a version and a component)
        sys.stderr.write(f"{(__doc__ or '').splitlines()[0]}\n")
        return 2
    _, version, *component = sys.argv
    try:
        command = [*java(version, build(version)), "mlcheck.oracle.HostMain", *component]
        os.execv(command[0], command)  # noqa: S606 - it takes the place of this one
    except (OracleError, OSError) as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
