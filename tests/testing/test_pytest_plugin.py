"""The pytest plugin, as a library's author uses it: tests of a bolt and a spout, in a run of pytest of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.component

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"
MUTANTS = Path(__file__).resolve().parents[1] / "mutants" / "bolt.py"


def outcome(pytester: pytest.Pytester, text: str) -> tuple[dict[str, int], str]:
    code = f"BOLT, SPOUT, MUTANT = {str(EXAMPLES / 'split_bolt.py')!r}, {str(EXAMPLES / 'sentence_spout.py')!r}, "
    pytester.makepyfile(code + f"{str(MUTANTS)!r}\nimport pytest\n" + dedent(text))
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    return result.parseoutcomes(), result.stdout.str()


def test_a_bolt_is_tested_in_ten_lines(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        def test_it_splits(shell_bolt):
            bolt = shell_bolt("python3", BOLT, streams={"default": ["word"]})
            answer = bolt.send(["snow white"])
            assert answer.values == [["snow"], ["white"]]
            assert answer.anchored and answer.done
            assert bolt.heartbeat()

        def test_it_takes_many(shell_bolt):
            answer = shell_bolt("python3", BOLT).send_all([["a"], ["b c"]])
            assert len(answer.emits) == 3 and len(answer.acked) == 2
        """,
    )
    assert outcomes == {"passed": 2}, shown


def test_what_is_taken_out_of_its_environment_is_kept_as_a_test_says_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    text = "def test_it(shell_bolt):\n    shell_bolt('python3', BOLT{}).heartbeat()\n"
    outcomes, shown = outcome(pytester, text.format(""))
    assert outcomes == {"passed": 1}
    assert '; keep_env=["NAME"] keeps it' in shown
    outcomes, shown = outcome(pytester, text.format(", keep_env=['PYTHONUNBUFFERED']"))
    assert outcomes == {"passed": 1}
    assert "PYTHONUNBUFFERED" not in shown


def test_a_bolt_is_told_its_sources(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        def test_join(shell_bolt):
            bolt = shell_bolt("python3", BOLT, sources={"views": ["id", "page"], "clicks:late": ["id"]})
            bolt.send([1, "a"])
            bolt.send([1], comp="clicks")
            bolt.send([1], "clicks", "other", 9)
            profile = bolt.session.judge.profile
            assert {name: [*streams] for name, streams in profile.sources.items()} == {
                "views": ["default"], "clicks": ["late"],
            }

        def test_wrong(shell_bolt):
            shell_bolt("python3", BOLT, sources={"a": ["x"]}, samples=([1, 2],))
        """,
    )
    assert outcomes == {"passed": 1, "failed": 1}, shown
    assert "mlcheck: [1, 2] has 2 values; fields of a: 1 (x)." in shown


def test_a_spout_is_asked_and_told(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        def test_it_emits_again_what_failed(shell_spout):
            spout = shell_spout("python3", SPOUT)
            first = spout.next().emits[0]
            assert first.id is not None
            spout.fail(first.id)
            later = [each.values for _ in range(20) for each in spout.next().emits]
            assert first.values in later
        """,
    )
    assert outcomes == {"passed": 1}, shown


def test_a_finding_of_the_judge_fails_the_test(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        def test_twice(shell_bolt):
            assert shell_bolt("python3", MUTANT, "ack-twice").send(["a b"]).done

        @pytest.mark.mlcheck(allow=["ack-twice"])
        def test_known(shell_bolt):
            assert shell_bolt("python3", MUTANT, "ack-twice").send(["a b"]).done
        """,
    )
    assert outcomes == {"passed": 1, "failed": 1}, shown
    assert "ack-twice: ack of a tuple that is settled already" in shown
    assert "mlcheck explain ack-twice" in shown
    assert "it settles a tuple twice: " in shown


def test_a_broken_conversation_fails_at_the_assert_with_cause_and_messages(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        def test_none_is_acked(shell_bolt):
            answer = shell_bolt("python3", MUTANT, "ack-twice").send(["a b"])
            assert answer.acked == []
        """,
    )
    assert outcomes == {"failed": 1}, shown
    _, _, told = shown.partition(">       assert answer.acked == []")
    for line in ("E       AssertionError", "E       it settles a tuple twice: ", "-->", 'out   ack  "'):
        _, found, told = told.partition(line)
        assert found, f"{line!r} is missing, or stands elsewhere:\n{shown}"


LATE = """
import time
from multilang_cli.component.bolt import Bolt, Tuple

class Late(Bolt):
    def process(self, tup):
        self.ack(tup)
        time.sleep(0.3)
        self._write({"command": "ack", "id": tup.id})

Late().run()
"""


def test_what_is_said_behind_the_last_answer_is_judged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(late=LATE)
    outcomes, shown = outcome(
        pytester,
        f"""
        def test_late(shell_bolt):
            assert shell_bolt({sys.executable!r}, "late.py").send(["a b"]).done
        """,
    )
    assert outcomes == {"failed": 1}, shown


def test_a_should_fails_only_where_it_is_asked(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        @pytest.mark.parametrize("strict", [pytest.param(True, marks=pytest.mark.mlcheck(strict=True)), False])
        def test_surrogate(shell_bolt, strict):
            shell_bolt("python3", MUTANT, "lone-surrogate").send(["a b"])
        """,
    )
    assert outcomes == {"passed": 1, "failed": 1}, shown


MISUSES = [
    ("", 'shell_bolt("python3", BOLT, storm="77")', "there is no Storm version '77'; known are"),
    ("", "shell_bolt()", "which command?"),
    ("", 'shell_bolt("python3", BOLT, limits={"foo": 1})', "the limit 'foo' is not known; there are"),
    ("", 'shell_bolt("python3", BOLT, limits={"settle": -1})', "the limit 'settle' is -1; it is a number of seconds"),
    (
        "strickt=True",
        'shell_bolt("python3", BOLT)',
        "the marker's 'strickt' is not known; there are storm, strict, allow",
    ),
    ('allow=["ack-twise"]', 'shell_bolt("python3", BOLT)', "the rule 'ack-twise' is not known; there are"),
    ("", 'shell_bolt("python3", BOLT).send("word")', "the values of a tuple are a list"),
    ("", 'shell_bolt("python3", BOLT).send_all([["a"], 7])', "the values of a tuple are a list"),
    ("", 'shell_bolt("python3", BOLT).hold([float("nan")])', "Storm sends neither NaN nor an infinity"),
]


def test_what_a_test_asks_for_wrongly_is_said_and_blames_no_component(pytester: pytest.Pytester) -> None:
    tests = [
        f"@pytest.mark.mlcheck({marker})\ndef test_{number}(shell_bolt):\n    {line}\n"
        for number, (marker, line, _) in enumerate(MISUSES)
    ]
    outcomes, shown = outcome(pytester, "\n".join(tests))
    assert outcomes == {"failed": len(MISUSES)}, shown
    assert [why for _, _, why in MISUSES if why not in shown] == []
    assert "breaks the protocol" not in shown


def test_any_release_of_storm_can_be_played(pytester: pytest.Pytester) -> None:
    outcomes, shown = outcome(
        pytester,
        """
        @pytest.mark.parametrize("storm", ["2.6.4", "1.2", "0.9.2"])
        def test_old(shell_bolt, storm):
            assert shell_bolt("python3", BOLT, storm=storm).send(["a b"]).done
        """,
    )
    assert outcomes == {"passed": 3}, shown


HOSTILE = """
import json, os, sys
asked = json.loads(sys.stdin.readline())
print('{"pid": %d}\\nend' % os.getpid(), flush=True)
secret = asked["conf"]["db.password"]
sys.stderr.write("\\x1b[2Ja\\x9bb \\u202e " + secret + "\\n::error::obeyed\\n##[error]obeyed\\n##vso[obeyed]\\n")
print('{"command": "\\\\u001b[2J%s"}\\nend' % secret, flush=True)
"""


def test_what_a_component_writes_is_harmless_and_holds_no_secret(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    outcomes, shown = outcome(
        pytester,
        f"""
        def test_it(shell_bolt):
            shell_bolt("python3", "-c", {HOSTILE!r}, conf={{"db.password": "hunter-2-hunter"}}).send(["a"])
        """,
    )
    assert outcomes == {"failed": 1}, shown
    assert "command-unknown" in shown
    assert "obeyed" in shown
    assert "hunter-2" not in shown
    assert not [c for c in shown if not c.isprintable() and c != "\n"]
    assert not [line for line in shown.splitlines() if line.startswith("::") or "##[" in line or "##vso[" in line]


def test_a_component_that_can_not_be_started_shows_no_environment(pytester: pytest.Pytester) -> None:
    """What pytest prints of a traceback's frames, arguments and locals, is all that a component was given."""
    code = """
        SECRET = "-".join(["hunter", "2", "hunter"])
        GIVEN = {"env": {"DB_PASSWORD": SECRET}, "conf": {"db.password": SECRET}}

        def test_no_program(shell_bolt):
            shell_bolt("/none/bolt", "--password", "-".join(["hunter", "2", "hunter"]), **GIVEN)

        def test_no_folder(shell_bolt):
            shell_bolt("python3", "bolt.py", cwd="/none", **GIVEN)

        def test_no_text(shell_bolt):
            shell_bolt("python3", "bolt.py", env={"DB_PASSWORD": SECRET, "OTHER": 5})

        def test_no_number(shell_bolt):
            shell_bolt("python3", "bolt.py", limits={"pid": "x"}, **GIVEN)
        """
    pytester.makepyfile(dedent(code))
    result = pytester.runpytest_subprocess("-q", "-vv", "-l", "--junitxml=made.xml", "-p", "no:cacheprovider")
    assert result.parseoutcomes() == {"failed": 4}
    for shown in (result.stdout.str(), pytester.path.joinpath("made.xml").read_text()):
        assert "hunter-2" not in shown
        assert "PATH" not in shown
        assert "LaunchError: /none/bolt" in shown
        assert "the value of 'OTHER' in env is no text" in shown
        assert "the limit 'pid' is 'x'" in shown
