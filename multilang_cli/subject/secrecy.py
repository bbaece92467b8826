"""The secrets of a component: those of its conf, its environment and its command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from multilang_cli.subject.options import Component


def redactor_of(component: Component) -> Redactor:
    """The redactor of the secrets of a component in what is shown."""
    return Redactor({"": [component.conf, component.env]}, words=component.command)
