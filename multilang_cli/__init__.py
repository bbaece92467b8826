"""mlcheck: a debugger and conformance tester for Apache Storm's multilang protocol.

The Python API (docs/api.md) is imported when it is asked for: ``mlcheck --version`` needs none of it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself is not imported: it takes longer than all of --version
if TYPE_CHECKING:
    from multilang_cli.api import (
        Answer,
        CheckError,
        Conversation,
        DrivenBolt,
        DrivenSpout,
        RunResult,
        check,
        judge,
    )

__all__ = ["Answer", "CheckError", "Conversation", "DrivenBolt", "DrivenSpout", "RunResult", "check", "judge"]
__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """Import a name of the API."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from multilang_cli import api  # noqa: PLC0415

    found: object = getattr(api, name)
    return found


def __dir__() -> list[str]:
    """The names of the API, imported or not."""
    return sorted({*globals(), *__all__})
