from __future__ import annotations

import json
import re
import tracemalloc
from base64 import b64decode, b64encode
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import problems
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.secrets import load_secrets
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer, frame_text
from multilang_cli.protocol.words.events import Chunk, Deadline, Event, Redacted, Started
from multilang_cli.protocol.words.large import LARGEST_DECODED
from multilang_cli.protocol.words.messages import Handshake, Malformed, Pid, TupleMsg
from multilang_cli.protocol.words.shortening import bounded, ends, head
from multilang_cli.protocol.words.verdicts import Outlook
from multilang_cli.topology.engine.workers import StderrFile
from multilang_cli.transcript import redact
from multilang_cli.transcript.read import read
from multilang_cli.transcript.redact import Redactor, redacted
from multilang_cli.transcript.secrets import hide, hide_words
from tests.recording import HEADER, PID, PROFILE, events_of, written
from tests.results import TWICE, result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.catalogue.secrets import Shape
    from multilang_cli.protocol.words.verdicts import Fate

SECRET = "hunter2/hunter2"  # noqa: S105
CONF = {
    "db.password": SECRET,
    "nested": [{"api_key": "k" * 20, "user": "me"}],
    "AWS_SECRET": {"a": "b"},
    "pin.token": 12345,
    "storm.zookeeper.topology.auth.payload": "user:payload",
    "nimbus.credential.renewers.freq.secs": 600,
    "drpc.https.keystore.type": "JKS",
    "topology.kryo.register": None,
    "empty.password": "",
}
CLEAN = {
    **CONF,
    "db.password": "***",
    "nested": [{"api_key": "***", "user": "me"}],
    "AWS_SECRET": "***",
    "pin.token": "***",
    "storm.zookeeper.topology.auth.payload": "***",
}


def test_secrets_of_conf_do_not_reach_the_file(tmp_path: Path) -> None:
    frame = wire.frame({"conf": CONF, "pidDir": "/pids", "context": {"taskid": 3}})
    said = b'{"command":"log","msg":"password is hunter2/hunter2"}\nend\n'
    spelt = wire.encode_tuple(TupleMsg("s", [SECRET], 2, "default", "1"))
    events = [
        Event(0, 0.0, "process", Started(("./bolt", f"--password={SECRET}"), 7)),
        Event(1, 0.0, "in", Handshake(CONF, "/pids", {"taskid": 3}), frame, 0),
        Event(2, 0.1, "out", Pid(1234), PID, 0),
        Event(3, 0.1, "in", wire.decode(spelt[:-5]), spelt, len(frame)),
        Event(4, 0.2, "out", read_frame(Framer().feed(said)[0]), said, len(PID)),
        Event(5, 0.3, "err", Chunk(len(SECRET)), SECRET.encode(), 0),
    ]
    header = msgspec.structs.replace(
        HEADER,
        profile=msgspec.structs.replace(PROFILE, conf=CONF),
        argv=("./bolt", f"--password={SECRET}"),
        snapshot={"state": [SECRET]},
    )
    path = tmp_path / "t.ndjson"
    path.write_bytes(written(events, header))
    text = path.read_bytes()
    assert b"hunter2" not in text
    assert b"kkkk" not in text
    transcript = read(path)
    assert transcript.header.profile.conf == CLEAN
    assert transcript.header.redacted == (
        "AWS_SECRET",
        "api_key",
        "db.password",
        "pin.token",
        "storm.zookeeper.topology.auth.payload",
    )
    got = list(transcript)
    marked = [event.body.seq_redacted for event in got if isinstance(event.body, Redacted)]
    assert marked == [0, 1, 3, 4, 5]
    assert all(event.seq == event.body.seq_redacted for event in got if isinstance(event.body, Redacted))
    sent = next(event.body for event in got if event.channel == "in")
    assert isinstance(sent, Handshake)
    assert (sent.conf, sent.context) == (CLEAN, {"taskid": 3})
    # What was not touched is still at its own place in its stream.
    assert [event.offset for event in got if event.channel in {"in", "out"}] == [0, 0, len(frame), len(PID)]
    assert [event.raw for event in got if event.seq == 2] == [PID]


def test_without_secrets_nothing_is_changed() -> None:
    frame = wire.frame({"conf": {"a": 1}, "pidDir": "/p", "context": {}})
    text = written([Event(0, 0.0, "in", Handshake({"a": 1}, "/p", {}), frame, 0)])
    assert b'"msg":' + frame[:-5] + b"}\n" in text
    assert b"redacted" not in text


def test_a_broken_handshake_is_redacted_all_the_same() -> None:
    raw = b'{"conf": {"db.password": "hunter2/hunter2", "bytes": [B@1a2b}, "pidDir": "/p"}\nend\n'
    events = events_of(raw, b"", b"", [])
    assert isinstance(events[0].body, Malformed)
    lines = written(events).splitlines()
    assert b'"***", "bytes"' in b64decode(json.loads(lines[1])["raw64"])


def test_other_keys_can_be_secret_or_none() -> None:
    frame = wire.frame({"conf": {"door.code": "12345678"}, "pidDir": "/p", "context": {}})
    events = [Event(0, 0.0, "in", wire.decode(frame[:-5]), frame, 0)]
    assert b"12345678" not in written(events, secret_keys=re.compile("door"))
    assert b"12345678" in written(events)
    assert b"12345678" in written(events, secret_keys=None)


@pytest.mark.parametrize(
    ("key", "hidden"),
    [
        ("app.secret.params", True),
        ("db.password.items", True),
        ("aws.secret.account", True),
        ("oauth.token.profile", True),
        ("app.token.timeout.secs", False),
        ("app.token_file", False),
        ("secret.class", False),
    ],
)
def test_a_harmless_ending_is_a_word_of_its_own(key: str, hidden: bool) -> None:
    assert (redacted({key: "hunter2hunter2"})[0][key] == "***") is hidden


@pytest.mark.parametrize(
    ("key", "hidden"),
    [
        ("dbPass", True),
        ("DB_PASS", True),
        ("smtp.pw", True),
        ("wifi.psk", True),
        ("basic_auth", True),
        ("first_pass", False),
        ("bypass", False),
        ("compass", False),
        ("proxy_pass", False),
    ],
)
def test_a_short_name_of_a_password_is_one_behind_what_it_is_of(key: str, hidden: bool) -> None:
    text = f"{key}=hunter2hunter2"
    assert (hide(text, "text") != text) is (hidden and key != "basic_auth")
    assert (redacted({key: "hunter2hunter2"})[0][key] == "***") is (hidden or key in {"first_pass", "proxy_pass"})


LONG_SECRET = "".join(map(chr, range(0x3B1, 0x3C9))) + 'ABCDEFGHIJKLMNOP"QRSTUVWXYZ'
SHORTENINGS = (lambda text: head(text, 40), lambda text: ends(text, 40), lambda text: bounded(text, 60))
WRITINGS = (str, ascii, json.dumps, lambda text: json.dumps(text, ensure_ascii=False))


@given(
    st.text("xyz. ", max_size=80),
    st.text("xyz. ", max_size=80),
    st.sampled_from(SHORTENINGS),
    st.sampled_from(WRITINGS),
    st.booleans(),
)
@example("x" * 19 + ".", "", SHORTENINGS[1], str, False)
@example("x" * 59, "." + "x" * 10, SHORTENINGS[0], json.dumps, True)
def test_no_piece_of_a_secret_is_left_beside_a_cut(
    before: str, after: str, shorten: Callable[[str], str], write: Callable[[str], str], in_json: bool
) -> None:
    told = write(shorten(before + LONG_SECRET + after))
    shown = (
        Redactor({"db.password": LONG_SECRET}).text(msgspec.json.encode(told) if in_json else told.encode()).decode()
    )
    pieces = [LONG_SECRET[at : at + 3] for at in range(len(LONG_SECRET) - 2)]
    spelled = {piece for text in pieces for piece in (text, ascii(text)[1:-1], json.dumps(text)[1:-1])}
    assert [piece for piece in spelled if piece in shown] == []
    assert json.loads(shown) is not None if in_json else True
    assert Redactor({"db.user": LONG_SECRET}).text(told.encode()).decode() == told


CORE = "hunter2hunter2"
ENDS = ("", '"', "\\", '\\"', '"\\')


VALUES = [
    [SECRET, 1, None], [{SECRET: [SECRET + "x"], "a": "x" + SECRET}],
    ["hunter2", 1234567, "1234567", -1234567, 12345678],
    [b64encode(SECRET.encode()).decode()], ["\u00e9" + SECRET, "a\\", '"'], [1.5, 10**500, True],
]  # fmt: skip


@pytest.mark.parametrize("declared", [(), ("huntr?e.2",)], ids=["known", "patterns"])
@pytest.mark.parametrize("values", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("spaces", [None, (", ", " : ")], ids=["compact", "spaced"])
def test_secrets_are_hidden_in_a_large_message_as_in_another(
    values: list[Any], spaces: Any, declared: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    redactor = Redactor({"": [{"db.password": SECRET, "pin.password": 1234567}]})
    redactor._scrubber.patterns = tuple(map(re.compile, declared))
    text = json.dumps({"command": "emit", "tuple": values, "anchors": ["5"]}, separators=spaces).encode()
    event = Event(7, 0.1, "out", read_frame(Framer().feed(text + b"\nend\n")[0]), text + b"\nend\n")
    small, keys = redactor.event(event)
    monkeypatch.setattr(redact, "LARGEST_DECODED", 2)
    large, keys_of_large = redactor.event(event)
    assert json.loads(frame_text(large.raw)) == json.loads(frame_text(small.raw))
    assert keys_of_large == keys


def test_hiding_a_secret_in_a_large_message_takes_little_memory() -> None:
    keys = b",".join(b'"k%d":1' % number for number in range(150_000))
    raw = b'{"command":"emit","tuple":["%b",{%b}]}\nend\n' % (SECRET.encode(), keys)
    redactor = Redactor({"": [{"db.password": SECRET}]})
    event = Event(7, 0.1, "out", read_frame(Framer().feed(raw)[0]), raw)
    tracemalloc.start()
    try:
        changed, _ = redactor.event(event)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(raw)
    finally:
        tracemalloc.stop()
    assert SECRET.encode() not in changed.raw


@pytest.mark.parametrize("size", [1, LARGEST_DECODED], ids=["small", "large"])
@pytest.mark.parametrize("note", ["", f'"note":"{SECRET}","{SECRET}":[7],', '"id":"0",'], ids=["", "more", "twice"])
def test_ids_stay_in_messages_of_any_size(note: str, size: int) -> None:
    fields = (
        f'{{ {note}"id" :"{SECRET}", "comp":"c","stream":"{SECRET}","task":2,"tuple": ["{SECRET}","{"a" * size}"]}}'
    )
    raw = f"{fields}\nend\n".encode()
    event = Event(7, 0.1, "in", wire.decode(fields.encode()), raw)
    changed, keys = Redactor({"db.password": SECRET}).event(event)
    said = json.loads(changed.raw[:-5])
    assert keys == ("db.password",)
    assert said["tuple"][0] == said.get("note", "***") == "***"
    if '"id":"0"' not in note:
        assert (said["id"], said["stream"], said.get(SECRET, [7])) == (SECRET, SECRET, [7])


@pytest.mark.parametrize(
    ("chunks", "left"),
    [
        (["it is hunter2/", "hunter2 now\n"], ["it is ***", "*** now\n"]),
        (["hun", "ter2/hunter2\n", "ter2 is no end of it\n"], ["***", "***\n", "ter2 is no end of it\n"]),
        (["x" * 9, "as ever\n", "huntress\n"], ["x" * 9, "as ever\n", "huntress\n"]),
        ([b64encode(SECRET.encode()).decode()[:9], "ends\n"], ["***", "ends\n"]),
    ],
    ids=range(4),
)
def test_a_secret_that_two_chunks_of_stderr_part_is_in_neither(chunks: list[str], left: list[str]) -> None:
    redactor = Redactor({"": [{"db.password": SECRET}]})
    seen = [redactor.event(Event(seq, 0.1, "err", Chunk(9), text.encode())) for seq, text in enumerate(chunks)]
    assert [event.raw.decode() for event, _ in seen] == left
    assert [bool(keys) for _, keys in seen] == [one != other for one, other in zip(chunks, left, strict=True)]


LINES = "first half\nsecond half"
PARTED = {
    "by bytes": (SECRET, list(f"it is {SECRET} now\n"), f"it is {SECRET[:2]}"),
    "in the middle": (SECRET, ["hunt", "er2", "/h", "unter2", "/"], ""),
    "in lines": (LINES, ["first half\n", "second half\n"], ""),
    "in lines by bytes": (LINES, list(LINES), LINES[:2]),
    "a key before it": ("", ["db.password=", "x1y2z3\n", "password=1\n"], "db.password="),
    "a key by bytes": ("", list("password=1y2z3x"), "password="),
}


@pytest.mark.parametrize(("secret", "chunks", "before"), PARTED.values(), ids=PARTED)
def test_a_secret_in_chunks_of_its_own_is_in_no_recording(secret: str, chunks: list[str], before: str) -> None:
    redactor = Redactor({"": [{"db.password": secret}]})
    seen = [redactor.event(Event(seq, 0.1, "err", Chunk(9), text.encode()))[0] for seq, text in enumerate(chunks)]
    left = "".join(event.raw.decode() for event in seen)
    assert left.startswith(f"{before}***")
    assert not {
        part for part in re.split(r"[*\n]+", left.removeprefix(before)) if part and part in f"{secret} x1y2z3 1y2z3x"
    }


@pytest.mark.parametrize("texts", [list(SECRET), ["hunter2", "/", "hunter2"], ["hunte", "r2/hun", "ter2", "ter2"]])
def test_a_secret_in_texts_of_the_log_of_its_own_is_in_no_recording(texts: list[str]) -> None:
    redactor = Redactor({"": [{"db.password": SECRET}]})
    left = "".join(said(redactor, text) for text in texts)
    assert SECRET not in left.replace("***", "")
    assert "***" in left
    assert said(redactor, "hunter of 2 words") == "hunter of 2 words"
    assert said(redactor, "ter2") == "ter2"


def said(redactor: Redactor, text: str) -> str:
    """What a recording tells of a text of the log."""
    raw = json.dumps({"command": "log", "msg": text}).encode() + b"\nend\n"
    event, _ = redactor.event(Event(7, 0.1, "out", read_frame(Framer().feed(raw)[0]), raw))
    shown: str = json.loads(event.raw[:-5])["msg"]
    return shown


@pytest.mark.parametrize("before", ENDS)
@pytest.mark.parametrize("after", ENDS)
def test_a_secret_with_quotes_or_backslashes_at_its_ends_leaves_json_what_it_is(before: str, after: str) -> None:
    secret = before + CORE + after
    hides = Redactor({"db.password": secret})
    for said in (secret, CORE, f'{CORE}"', f"{CORE}\n", f'"{CORE}', f"x{secret}y"):
        for text in (json.dumps([said, {said: 1}]), json.dumps(json.dumps(said))):
            shown = hides.text(text.encode())
            assert CORE not in str(json.loads(shown))


def test_a_secret_within_another_value_of_conf_is_hidden_too(tmp_path: Path) -> None:
    conf = {"db.password": SECRET, "db.url": f"jdbc:mysql://u:{SECRET}@db/x", "n": [1.5, f"-{SECRET}"]}
    header = msgspec.structs.replace(HEADER, profile=msgspec.structs.replace(PROFILE, conf=conf))
    path = tmp_path / "t.ndjson"
    path.write_bytes(written([], header))
    assert b"hunter2" not in path.read_bytes()
    assert read(path).header.profile.conf == {
        "db.password": "***",
        "db.url": "jdbc:mysql://u:***@db/x",
        "n": [1.5, "-***"],
    }


@pytest.mark.parametrize(
    "spelt",
    [
        b'{"conf":{"db.password":"hunter2\\/hunter2"},"pidDir":"/pids","context":{}}\r\nend\r\n',
        b'\n{"conf":{"db.password":"hunter2/hunter2"},\r"pidDir":"/pids","context":{}}\rend\r',
        b'{"conf":{"db.password":"hunter2/hunter2","half":"\\ud800"},"pidDir":"/pids","context":{}}\nend\n',
        b'{"conf":{"db.password":"hunter2/hunter2","nan":NaN},"pidDir":"/pids","context":{}}\nend\n',
        b'{"conf":{"db.password":"hunter2/hunter2"},"pidDir":"/pids","context":{}} and more\nend\n',
    ],
    ids=["crlf", "cr", "half a pair", "nan", "text behind it"],
)
def test_the_secrets_of_an_odd_handshake_are_hidden_and_known(spelt: bytes) -> None:
    redactor = Redactor({})
    shake = Event(0, 0.0, "in", wire.decode(frame_text(spelt)), spelt)
    hidden, keys = redactor.event(shake)
    assert keys == ("db.password",)
    assert b"hunter2" not in hidden.raw
    assert hidden.raw.partition(b"{")[0] == spelt.partition(b"{")[0]
    assert hidden.raw.rpartition(b"}")[2] == spelt.rpartition(b"}")[2]
    later, keys = redactor.event(Event(1, 0.1, "err", Chunk(len(SECRET)), SECRET.encode()))
    assert (later.raw, keys) == (b"***", ("db.password",))


SHAPES = [shape for shape, _ in load_secrets().shapes["settings"]]


def test_what_is_known_of_secrets_holds_to_its_schema() -> None:
    assert problems(data_path("conformance", "secrets.yaml"), "secrets") == []


def _note(told: list[str], _: str, secret: str) -> None:
    told.append(secret)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_hides_its_examples_and_nothing_else(shape: Shape) -> None:
    for text in shape.good:
        told: list[str] = []
        hidden = hide(text, shape.where, partial(_note, told))
        assert "***" in hidden
        assert told
        assert not any(secret in hidden for secret in told)
    assert [hide(text, shape.where) for text in shape.bad] == list(shape.bad)


@pytest.mark.parametrize(
    "text",
    [
        "0f343b0931126a20f133d67c2b018a3b",
        "bXkgdmVyeSBsb25nIHZhbHVlIHRoYXQgaXMgbm8gc2VjcmV0",
        "3b241101-e2bb-4255-8caf-4136c566a962",
        "/var/lib/passwords/db.txt",
        "key=word count=3",
        "the password is wrong",
        "s3://bucket/key:with:colons@2x.png",
    ],
)
def test_nothing_is_hidden_because_it_is_long_or_speaks_of_secrets(text: str) -> None:
    assert hide(text, "settings") == text
    assert redacted({"some.setting": text, "list": [text]}) == ({"some.setting": text, "list": [text]}, {})


@pytest.mark.parametrize("says", ["name", "key"])
def test_the_name_of_a_value_may_stand_beside_it(says: str) -> None:
    settings = {"env": [{says: "DB_PASSWORD", "value": SECRET}, {says: "LEVEL", "value": "info", "password": SECRET}]}
    clean, found = redacted(settings)
    hidden = [{says: "DB_PASSWORD", "value": "***"}, {says: "LEVEL", "value": "info", "password": "***"}]
    assert (clean, found) == ({"env": hidden}, {"DB_PASSWORD": [SECRET], "password": [SECRET]})


@pytest.mark.parametrize(
    ("words", "hidden"),
    [
        (["redis-cli", "-a", SECRET], ["redis-cli", "-a", "***"]),
        (["/usr/bin/mysql", "-p", SECRET], ["/usr/bin/mysql", "-p", "***"]),
        (["mkdir", "-p", SECRET], ["mkdir", "-p", SECRET]),
        (["bolt", "-a", SECRET], ["bolt", "-a", SECRET]),
    ],
)
def test_a_word_behind_an_option_is_secret_by_its_program(words: list[str], hidden: list[str]) -> None:
    assert hide_words(words) == hidden


@pytest.mark.parametrize("key", ["id", "stream", "anchors", "task"])
def test_what_the_protocol_hangs_on_stays(key: str) -> None:
    secret: object = 12345678 if key == "task" else "hunter2hunter2"
    message = {"command": "emit", "id": "1", "stream": "s", "anchors": [], "task": 1, "tuple": [secret, "x"]}
    message[key] = [secret] if key == "anchors" else secret
    raw = json.dumps(message).encode() + b"\nend\n"
    redactor = Redactor({"a.password": "hunter2hunter2", "b.token": 12345678})
    event, keys = redactor.event(Event(0, 0.0, "out", read_frame(Framer().feed(raw)[0]), raw, 0))
    assert keys
    assert json.loads(frame_text(event.raw)) == {**message, "tuple": ["***", "x"]}


def test_numbers_are_hidden_as_a_whole() -> None:
    hides = Redactor({"door.token": 918273})
    for text in ("1918273", "9182734", "0.918273", "918273.5", "x918273"):
        assert hides.text(text.encode()) == text.encode()
    assert hides.text(b"is 918273, or (918273).") == b"is ***, or (***)."
    assert Redactor({"door.token": 91827}).text(b"91827") == b"91827"


@given(
    st.text(st.characters(codec="utf-8"), min_size=8, max_size=40),
    st.binary(max_size=5),
    st.binary(max_size=5),
)
def test_a_secret_is_found_in_base64_wherever_it_stands(secret: str, before: bytes, after: bytes) -> None:
    plain = secret.encode()
    said = b64encode(before + plain + after)
    shown = Redactor({"db.password": secret}).text(said)
    if len(plain) >= 8 and not secret.isdecimal():
        assert b"***" in shown


@pytest.mark.long
def test_what_a_component_writes_is_searched_in_linear_time() -> None:
    words = ("a" * 100_000 + "=", "a.b-" * 25_000 + ":", "://" * 30_000, 'k="' * 30_000, "password=," * 10_000)
    for text in (*words, "-----BEGIN PRIVATE KEY-----" * 2_500):
        hide(text, "text")
        hide(text, "settings")


def test_a_secret_in_chunks_of_its_own_is_in_no_file_of_stderr(tmp_path: Path) -> None:
    file = StderrFile(tmp_path / "err", Redactor({"": [{"db.password": SECRET}]}))
    for byte in f"it is {SECRET} now\n".encode():
        file.add(bytes([byte]))
    assert (tmp_path / "err").read_text("utf-8") == f"it is {SECRET[:2]}{'***' * (len(SECRET) - 2)} now\n"


@pytest.mark.parametrize("word", ["survives", "loses-data", "fails-tuple"])
def test_a_secret_that_is_a_word_of_ours_gives_no_other_away(word: Fate) -> None:
    redactor = Redactor({"db.password": word, "other.password": SECRET})
    outlook = (Outlook("2.8.3", word, 3, "ack-twice"),)
    told = result(msgspec.structs.replace(TWICE, stderr_tail=f"{SECRET} and {word}", outlook=outlook))
    shown = redactor.struct(told)
    assert shown.subjects[0].stderr_tail == "*** and ***"
    assert (shown.verdict, shown.subjects[0].outlook) == (told.verdict, outlook)


@pytest.mark.parametrize("word", ["deadline", "exit-after-eof"])
def test_a_secret_that_is_a_word_of_ours_gives_no_other_away_in_an_event(word: str) -> None:
    redactor = Redactor({"db.password": word, "other.password": SECRET})
    event = Event(9, 0.0, "control", Deadline("exit-after-eof", 1.0, facts=f"ps says {SECRET}"))
    shown, keys = redactor.event(event)
    assert shown.body == Deadline("exit-after-eof", 1.0, facts="ps says ***")
    assert set(keys) == {"db.password", "other.password"}
