"""Settings of the Kafka spout: what is told wrong is a sentence, and what is secret stays so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.component.wire import encode
from multilang_cli.kafka.command import help_text, settings
from multilang_cli.kafka.config import KafkaConfigError, read
from multilang_cli.kafka.partition_manager import KafkaRecord, SchemeError
from multilang_cli.kafka.scheme import OnStream
from multilang_cli.kafka.scheme import read as scheme_of
from multilang_cli.protocol.storm.reading import read as read_message
from multilang_cli.protocol.words.messages import Emit
from tests.command import ROOT, mlcheck, refusal
from tests.kafka.conftest import SPOUT
from tests.kafka.topics import logs_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.testing.driven import DrivenSpout
    from tests.kafka.topics import Topic

NEEDED = {"kafka.spout.bootstrap.servers": "h:1", "kafka.spout.topic": "t"}
SECRET = "correct-horse"  # noqa: S105 (no secret of anybody's)


@pytest.mark.parametrize("name", ["topic", "bootstrap.servers"])
def test_a_setting_that_is_missing_is_named(name: str) -> None:
    told = {key: value for key, value in NEEDED.items() if key != f"kafka.spout.{name}"}
    with pytest.raises(KafkaConfigError, match=f"^kafka.spout.{name} is missing$"):
        read(told, [])


def test_the_command_line_goes_over_the_conf() -> None:
    found = read({**NEEDED, "kafka.spout.batch": 5, "kafka.client.ssl.ca.location": "/ca"}, ["batch=7", "topic=5"])
    assert (found.spout.batch, found.spout.topic, found.client) == (7, "5", {"ssl.ca.location": "/ca"})


@pytest.mark.parametrize(("told", "expected"), [([], 32), (["profile=storm-0.9.3"], 1), (["batch=3"], 3)])
def test_a_next_emits_many_messages_but_as_the_old_spout_one(told: list[str], expected: int) -> None:
    assert read(NEEDED, told).spout.a_next == expected


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ({"kafka.spout.topic": None}, "kafka.spout.topic: expected `str`, got `null`"),
        ({"kafka.spout.btach": 1}, "kafka.spout.btach is no setting; did you mean batch?"),
        ({"kafka.spout.colour": 1}, "kafka.spout.colour is no setting; --help shows all"),
        ({"kafka.spout.batch": 0}, "kafka.spout.batch: expected `int` >= 1"),
        ({"kafka.spout.profile": "modern"}, "kafka.spout.profile: invalid enum value 'modern'"),
        ({"kafka.spout.partitions": []}, "kafka.spout.partitions: expected `array` of length >= 1"),
        ({"kafka.spout.start": "timestamp"}, "kafka.spout.at must say which"),
        ({"kafka.spout.topic": "a,"}, "kafka.spout.topic: '' is no topic's name"),
        ({"kafka.spout.topic": "a,b,a"}, "kafka.spout.topic: 'a,b,a' names a topic twice"),
        ({"kafka.spout.topic": "^logs-("}, "kafka.spout.topic: '^logs-(' is no regular expression"),
        ({"kafka.spout.topic": "a,^logs-"}, "'^logs-' is no topic's name"),
        ({"kafka.spout.topic": "^logs-", "kafka.spout.progress": "zookeeper:h/"}, "there is room for one topic"),
        ({"kafka.spout.topic": "a,b", "kafka.spout.progress": "zookeeper:h/"}, "there is room for one topic"),
        ({"kafka.spout.topic": ""}, "kafka.spout.topic: '' is no topic's name"),
        ({"kafka.spout.topic": "x" * 250}, "249 at most"),
        ({"kafka.spout.given.up": "topic:"}, "kafka.spout.given.up names no topic"),
        ({"kafka.spout.given.up": "letters"}, "expected drop or topic:NAME"),
        ({"kafka.spout.retry.limit": -2}, "kafka.spout.retry.limit: expected `int` >= -1"),
        ({"kafka.spout.prometheus": "/x", "kafka.spout.metrics": 0}, "kafka.spout.metrics is 0, so nothing"),
        ({"kafka.client.group.id": "g"}, "kafka.client.group.id is decided by other settings: kafka.spout.*"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(conf: dict[str, Any], words: str) -> None:
    with pytest.raises(KafkaConfigError) as error:
        read({**NEEDED, **conf}, [])
    assert words in str(error.value)


WHOLE = KafkaRecord(7, b"v", b"k", 9, (("trace", b"t"), ("none", None)), 3, "lines")


@pytest.mark.parametrize(
    ("name", "value", "rows"),
    [
        ("string", "ä".encode(), [["ä"]]),
        ("string", b"\xff a", "the message is no utf-8: it begins with b'\\xff a'"),
        ("string", b"", []),
        ("string", None, []),
        ("string:latin-1", b"\xe4", [["ä"]]),
        ("raw", b"\xff", [["/w=="]]),
        ("json", b'{"a": [1]}', [[{"a": [1]}]]),
        ("json:a,b", b'{"a": [1]}', [[[1], None]]),
        ("json:a", b"[]", "the message is no JSON object"),
        ("json:a", b'{"a": NaN}', "its values can't be sent to Storm"),
        ("json:a", b'{"a": "\\ud800"}', "its values can't be sent to Storm"),
        ("json:a", b"[" * 100_000, "the message is no JSON"),
        ("json:a", b'{"a": %b1%b}' % (b"[" * 398, b"]" * 398), [[json.loads("[" * 398 + "1" + "]" * 398)]]),
        ("json:a", b'{"a": %b1%b}' % (b"[" * 399, b"]" * 399), "nested more than 400 deep"),
        ("json:a", b'{"a": %b1%b}' % (b"[" * 700, b"]" * 700), "its values can't be sent to Storm"),
        ("json:a", b'{"a": -9223372036854775808}', [[-(2**63)]]),
        ("json:a", b'{"a": [{"b": 9223372036854775808}]}', "an integer that does not fit 64 bits"),
        ("json", b"-9223372036854775809", "an integer that does not fit 64 bits"),
        ("string:utf-7", b"+2AA-", "its values can't be sent to Storm"),
        ("record", WHOLE, [["lines", 3, 7, "k", "v"]]),
        ("record:timestamp,headers", WHOLE, [[9, [["trace", "t"], ["none", None]]]]),
        ("record:key", KafkaRecord(0, b"v", b"\xff"), "the key is no utf-8: it begins with b'\\xff'"),
        ("record:headers", KafkaRecord(0, b"v", headers=(("h", b"\xff"),)), "the header 'h' is no utf-8"),
        ("python:tests.kafka.schemes:words", b"a b", [["a"], ["b"]]),
        ("python:tests.kafka.schemes:words", b"fail", "failed on the message: KeyError('fail')"),
        ("python:tests.kafka.schemes:words", b"bytes", "its values can't be sent to Storm"),
    ],
)
def test_schemes(name: str, value: KafkaRecord | bytes | None, rows: list[list[Any]] | str) -> None:
    scheme = scheme_of(name)
    record = value if isinstance(value, KafkaRecord) else KafkaRecord(0, value)
    if isinstance(rows, str):
        with pytest.raises(SchemeError, match=re.escape(rows)):
            scheme(record)
    else:
        assert scheme(record) == rows


@pytest.mark.parametrize(
    "text", ["\x7f", "\x7f\n", 'a"\\\x7f', "\u2028end\nend\n", "[" * 398 + '"\x7f\\n"' + "]" * 398]
)
@pytest.mark.parametrize("name", ["string", "json", "record:headers,key,value"])
def test_what_is_emitted_is_read_by_each_storm(name: str, text: str) -> None:
    value = text.encode() if name != "json" or text.startswith("[") else json.dumps(text, ensure_ascii=False).encode()
    for values in scheme_of(name)(KafkaRecord(0, value, value, headers=((text, value),))):
        emit = read_message(encode({"command": "emit", "id": "1", "tuple": values}))
        assert isinstance(emit, Emit)
        assert emit.values == values


@pytest.mark.parametrize(
    ("name", "of_null", "of_empty"),
    [
        ("string", [[None]], [[""]]),
        ("raw", [[None]], [[""]]),
        ("json", [[None]], None),
        ("json:a,b", [[None, None]], None),
        ("record:key,value", [["k", None]], [["k", ""]]),
        ("python:tests.kafka.schemes:words", [], []),
    ],
)
def test_tombstones_are_emitted_by_choice(
    name: str, of_null: list[list[Any]], of_empty: list[list[Any]] | None
) -> None:
    null, empty = KafkaRecord(0, None, b"k"), KafkaRecord(0, b"", b"k")
    assert (scheme_of(name)(null), scheme_of(name)(empty)) == ([], [])
    told = scheme_of(name, empty=True)
    assert told(null) == of_null
    if of_empty is None:
        with pytest.raises(SchemeError, match="the message is no JSON"):
            told(empty)
    else:
        assert told(empty) == of_empty


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("string:klingon", "there is no encoding 'klingon'"),
        ("string:zlib", "there is no encoding 'zlib'"),
        ("string:", "'string:' is no scheme"),
        ("record:value,colour", "a message has no 'colour'; it has topic, partition"),
        ("avro", "'avro' is no scheme; expected raw"),
    ],
)
def test_a_scheme_that_is_none_is_a_sentence(name: str, words: str) -> None:
    with pytest.raises(KafkaConfigError, match=re.escape(words)):
        scheme_of(name)


def test_a_function_chooses_the_stream_of_each_tuple() -> None:
    short, long = scheme_of("python:tests.kafka.schemes:by_length")(KafkaRecord(0, b"a snowwhite"))
    assert (short, isinstance(short, OnStream)) == (["a"], False)
    assert isinstance(long, OnStream)
    assert (long.stream, long) == ("long", ["snowwhite"])


def test_help_tells_every_setting() -> None:
    told = help_text()
    assert len(settings()) >= 25
    for name, default, what in settings():
        assert f"\n  {name}{f' = {default}' if default else ''}\n" in told
        assert what


def test_docs_tell_every_setting() -> None:
    text = (ROOT / "docs" / "kafka-settings.md").read_text(encoding="utf-8")
    section = text.partition("## Settings")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    told = {name.strip(" `"): default.strip(" `") for name, default in rows}
    assert {name: told.get(name) for name, _, _ in settings()} == {name: default for name, default, _ in settings()}


OF_KAFKA_CLIENT = """
setFirstPollOffsetStrategy setStartTimeStamp setProcessingGuarantee setTupleTrackingEnforced setPartitionRefreshPeriodMs
setRecordTranslator setEmitNullTuples setRetry setMaxUncommittedOffsets setOffsetCommitPeriodMs setPollTimeoutMs
setGroupId setProp setTupleListener setMetricsTimeBucketSizeInSecs ManualPartitioner NamedTopicFilter PatternTopicFilter
withTupleToKafkaMapper withTopicSelector withProducerProperties withProducerCallback setAsync setFireAndForget
"""
"""What storm-kafka-client 2.8.3 lets one set: the builder of KafkaSpoutConfig, its filters, and KafkaBolt."""


def test_the_table_beside_storm_names_tests_that_there_are() -> None:
    text = (ROOT / "docs" / "kafka-compared.md").read_text(encoding="utf-8")
    rows = text.partition("## Compared with storm-kafka-client")[2].partition("\n## ")[0].splitlines()
    named = [line.rsplit("|", 2)[1].strip(" `") for line in rows if line.startswith("| ") and "---" not in line][1:]
    assert len(named) >= 25
    for each in OF_KAFKA_CLIENT.split():
        assert each in "".join(rows), each
    for each in filter(None, named):
        file, _, test = each.partition("::")
        assert f"def {test}(" in (ROOT / "tests" / "kafka" / file).read_text(encoding="utf-8"), each


@pytest.mark.component
def test_help_needs_no_client() -> None:
    hidden = "import sys; sys.modules['confluent_kafka'] = None; from multilang_cli.kafka.command import main; main()"
    shown = subprocess.run([sys.executable, "-c", hidden, "--help"], capture_output=True, text=True, check=True)
    assert shown.stdout == help_text()
    ran = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith("pip install 'multilang-cli[kafka]'\n")
    assert ran.stderr.startswith("mlcheck-kafka-spout: the Kafka client is not installed")


@pytest.mark.component
def test_what_is_no_storm_is_told_so_in_a_sentence() -> None:
    words = [sys.executable, "-m", "multilang_cli.kafka", "topic=t", "bootstrap.servers=localhost:1"]
    ran = subprocess.run(words, input="garbage\nend\n", capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("mlcheck-kafka-spout: what came on stdin is no JSON")
    assert ran.stderr.count("\n") == 1


@pytest.mark.component
@pytest.mark.mlcheck(allow=["exited"])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("kafka.client.no.such", "x", 'No such configuration property: "no.such"'),
        ("kafka.client.security.protocol", "tls", 'Invalid value "tls" for configuration property'),
        ("kafka.client.error_cb", "x", "the Kafka client does not take the settings kafka.client.*"),
        ("kafka.spout.scheme", "xml", "'xml' is no scheme"),
        ("kafka.spout.scheme", "python:no.such:f", "can't be imported"),
        ("kafka.spout.progress", "paper", "'paper' is no store"),
    ],
)
def test_storm_hears_what_is_wrong_in_a_sentence(
    shell_spout: Callable[..., DrivenSpout], name: str, value: str, words: str
) -> None:
    conf = {**NEEDED, "kafka.client.sasl.password": SECRET, name: value}
    running = shell_spout(sys.executable, "-m", "multilang_cli.kafka", conf=conf, streams={"default": ["message"]})
    assert f"mlcheck-kafka-spout: {words}" in running.stderr or words in running.stderr
    assert "Traceback" not in running.stderr
    assert SECRET not in running.stderr
    assert running.session.exit is not None
    assert running.session.exit.code == 2


@pytest.mark.kafka
def test_a_password_that_is_not_accepted_is_not_told(spout: Callable[..., DrivenSpout]) -> None:
    running = spout(
        **{
            "kafka.client.security.protocol": "SASL_PLAINTEXT",
            "kafka.client.sasl.mechanism": "PLAIN",
            "kafka.client.sasl.username": "me",
            "kafka.client.sasl.password": SECRET,
        }
    )
    said: list[str] = []
    while not said:
        said = logs_of([running.next()])
    assert SECRET not in " ".join(said) + running.stderr


@pytest.mark.kafka
def test_lag_from_outside(topic: Topic, tmp_path: Path) -> None:
    topic.fill(0, [b"a", b"b"])
    shown = mlcheck("kafka", "lag", topic.name, "-b", topic.kafka.bootstrap_servers, "--id", topic.name, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert rows[1:] == [["0", "0", "-", "2", "-", "0", "0"], ["1", "0", "-", "0", "-", "0", "0"]]
    nowhere = mlcheck("kafka", "lag", "none", "-b", topic.kafka.bootstrap_servers, cwd=tmp_path)
    assert nowhere.returncode == 2
    assert "topic none: " in refusal(nowhere)


@pytest.mark.kafka
@pytest.mark.mlcheck(allow=["metric-unregistered"])
def test_storm_is_told_the_metrics_if_one_is_registered(shell_spout: Callable[..., DrivenSpout], topic: Topic) -> None:
    told = {"bootstrap.servers": topic.kafka.bootstrap_servers, "topic": topic.name, "metrics": 1e-9, "metric": "lag"}
    conf = {f"kafka.spout.{name}": value for name, value in told.items()}
    running = shell_spout(*SPOUT, conf=conf, streams={"default": ["message"]}, metrics={})
    running.next()
    assert [each.rule for each in running.findings] == ["metric-unregistered"]


@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_the_demo_counts_every_word(tmp_path: Path) -> None:
    shown = mlcheck("kafka", "demo", "--messages", "140", "--partitions", "3", cwd=tmp_path)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "Counted: the 40, and 10, away 10, cow 10" in shown.stdout
    assert [line.split()[-3:] for line in shown.stdout.splitlines()[-3:]] == [["0", "0", "0"]] * 3
