"""An interrupt is one wherever it comes, also where Python or a library makes another error of it."""

from __future__ import annotations

import pytest

from multilang_cli import __main__ as program
from multilang_cli.terminal.interrupts import interruptible


class _Name:
    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def _make_a_class() -> None:
    type("Made", (), {"name": _Name()})


def _interrupt() -> None:
    raise KeyboardInterrupt


def _fail_while_it_is_handled() -> None:
    try:
        _interrupt()
    except KeyboardInterrupt:
        int("none")


@pytest.mark.parametrize("work", [_make_a_class, _fail_while_it_is_handled])
def test_an_interrupt_that_became_another_error_is_one(work: object) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        work()  # type: ignore[operator]


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ValueError, match="none"), interruptible():
        int("none")


def test_an_interrupt_amid_the_first_imports_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_mind_own_modules", _make_a_class)
    assert program.main() == 130
    assert capsys.readouterr().err == "mlcheck: interrupted.\n"
