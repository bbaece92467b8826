"""The machine and the Python that a result comes from."""

from __future__ import annotations

import platform


def platform_of() -> dict[str, str]:
    """System, machine and Python, as `RunResult.platform` has them."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
