"""Secrets that nothing but their form gives away, in what a component writes, however it parts or escapes it."""

from __future__ import annotations

import json

import pytest

from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer, frame_text
from multilang_cli.protocol.words.events import Chunk, Event
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.secrets import hide

SECRET = "hunter22hunter22"  # noqa: S105 (planted)
LINES = [f"MIIE{number:02d}{SECRET * 3}" for number in range(5)]
KEY = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----", "and on"])


def _stderr(parts: list[str]) -> str:
    redactor = Redactor({})
    events = [Event(seq, 0.0, "err", Chunk(len(part)), part.encode()) for seq, part in enumerate(parts)]
    return "".join(redactor.event(each)[0].raw.decode() for each in events)


@pytest.mark.parametrize("size", [1, 7, 70, 100, 1000])
def test_a_private_key_that_chunks_part_is_hidden_to_its_end(size: int) -> None:
    shown = _stderr([KEY[at : at + size] for at in range(0, len(KEY), size)])
    assert SECRET[:4] not in shown
    assert "MIIE" not in shown
    assert shown.startswith("-----BEGIN RSA PRIVATE KEY-----\n***")
    assert shown.endswith("\n-----END RSA PRIVATE KEY-----\nand on")


def test_a_private_key_in_texts_of_the_log_is_hidden_to_its_end() -> None:
    redactor, shown = Redactor({}), []
    for seq, line in enumerate(KEY.splitlines()):
        raw = json.dumps({"command": "log", "msg": line}).encode() + b"\nend\n"
        event, _ = redactor.event(Event(seq, 0.0, "out", read_frame(Framer().feed(raw)[0]), raw, 0))
        shown.append(json.loads(frame_text(event.raw))["msg"])
    assert shown == ["-----BEGIN RSA PRIVATE KEY-----", *["***"] * 5, "-----END RSA PRIVATE KEY-----", "and on"]


def test_a_complaint_that_quotes_the_mark_of_a_key_hides_nothing_behind_it() -> None:
    parts = ["ValueError: no start line\n-----BEGIN PRIVATE KEY-----\n", "Traceback (most recent call last):\n", "x\n"]
    assert _stderr(parts) == "".join(parts)
    assert _stderr(["".join(parts)]) == "".join(parts)


@pytest.mark.parametrize(
    "text",
    [
        "body=user%3Du%26password%3D{}%26x",
        "q=%7B%22password%22%3A%22{}%22%7D",
        "&quot;password&quot;:&quot;{}&quot;",
        "&lt;password&gt;{}&lt;/password&gt;",
        r"\u0022password\u0022:\u0022{}\u0022",
        r"{{\x22password\x22:\x22{}\x22}}",
        r'{{"command": "log", "msg": "{{:user \"u\", :password \"{}\"}}"}}',
        r'{{"command": "log", "msg": "[\"curl\", \"-u\", \"u:{}\"]"}}',
        r'{{"command": "log", "msg": "a: b\n  password: {}\nc: d"}}',
        r'{{"command": "log", "msg": "password:\n  {}\n"}}',
        r'{{"command": "log", "msg": "localhost:5432:orders:app:{}"}}',
        r'{{"command": "log", "msg": "{{\\u0022password\\u0022:\\u0022{}\\u0022}}"}}',
    ],
)
def test_a_name_and_its_value_may_be_escaped(text: str) -> None:
    told: list[str] = []
    assert hide(text.format(SECRET), "text", lambda _, secret: told.append(secret)) == text.format("***")
    assert told == [SECRET]


@pytest.mark.parametrize(
    "text",
    ["100%25 of %22words%22 and %3Da", "&quot;user&quot;:&quot;u&quot;", "a%3Db%26c%3Dd", r"\u0022token count\u0022"],
)
def test_what_is_escaped_and_no_secret_stays(text: str) -> None:
    assert hide(text, "text") == text


@pytest.mark.parametrize(
    "text",
    [
        "SyntaxError: Unexpected token: identifier1 in JSON at position 4",
        "token: }",
        "usage: load [--password PASSWORD] [--token TOKEN] [-u USER]",
        "KeyError: 'password'",
        "    password: SecretStr",
        "    token = parser.next(token)",
        "    self.token = tokens[0]",
        "        password = getpass.getpass('word: ')",
        "bolt.py:12:5:name:error",
        "tokens: 1500",
        "token_count: 150000",
        "mysql server on 3306 -p is not given",
        "spout:4:default:words:abc123",
        "task 4 -p 6700",
        "error: --password is required",
        "fields ['user', 'password', 'token']",
        "java.lang.IllegalStateException: token must be set",
        "connect to db.example.com:5432 failed",
        "signature: (a, b) -> c",
        "uses: actions/checkout2@v4",
        "docker pull org/img22@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "spout/word1@worker:6700",
        "tuple spout/4@host:1599 sent",
        "connect to org/x2@main now",
        "rsync -b --suffix=12345678",
        "scp -P 2222 u@h:f",
        "az group list -p x2y3z4",
        "helm install -p release1",
        "vault login -method=oidc",
        "passing -pass through2: done",
        "cd x ;pwd",
        '{"k":"abcdefgh","d":"abcdefgh"}',
        '{"x":{"auth":"disabled1"}}',
        "https://h/hooks/pre-commit",
        "load_credentials('file', 'profile1')",
    ],
)
def test_words_that_only_speak_of_secrets_stay(text: str) -> None:
    assert hide(text, "text") == text


@pytest.mark.parametrize(
    "text",
    [
        "sqlplus scott/{}@db",
        "connecting as scott/{}@//db:1521/x",
        "openssl s_client -psk {}",
        "keytool -storepass {} -list",
        "openssl rsa -passin pass:{}",
        "curl -b 'sid={}' https://h",
        "get(u, cookies={{'sessionid': '{}'}})",
        "sqlcmd -S h -U sa -P {}",
        "cqlsh -u u -p {}",
        "az login --service-principal -u u -p {} --tenant t",
        "smbclient //h/s -U u%{}",
        "htpasswd -b f u {}",
        "DRIVER={{x}};UID=u;PWD={}",
        "ansible_ssh_pass={}",
        "licenseKey: {}",
        "Settings(user='u', password=SecretStr('{}'))",
        "credentials=('u', '{}')",
        "PlainCredentials('u', '{}')",
        "add_auth('digest', 'u:{}')",
        '{{"kty": "oct", "k": "{}"}}',
        "https://hooks.zapier.com/hooks/catch/1/{}",
        "c=biws,r=abc,p={}",
    ],
)
def test_what_is_told_by_a_program_a_call_or_a_protocol_is_hidden(text: str) -> None:
    assert hide(text.format(SECRET), "text") == text.format("***")


def test_each_registry_of_docker_is_hidden() -> None:
    shown = hide(json.dumps({"auths": {"a": {"auth": SECRET}, "b": {"auth": SECRET}}}, indent=1), "text")
    assert SECRET not in shown
