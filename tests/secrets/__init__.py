"""Secrets that are planted in settings, and the search for them in whatever is written."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Planted(NamedTuple):
    """A secret and where it stands: in a conf, an environment, or the words of a command."""

    where: str
    key: str
    value: Any
    secret: str


def _conf(number: int, key: str, template: str = "{}") -> Planted:
    secret = f"c0nf-{number:02d}/Hid+den={number * 7919}"
    return Planted("conf", key, template.format(secret), secret)


_CONF = (
    ("db.password", "{}"),
    ("pwd", "{}"),
    ("db.pwd", "{}"),
    ("userPwd", "{}"),
    ("ssl.key.password", "{}"),
    ("api_key", "{}"),
    ("apiKey", "{}"),
    ("client.secret", "{}"),
    ("oauth.token", "{}"),
    ("passphrase", "{}"),
    ("aws.access.key", "{}"),
    ("AccountKey", "{}"),
    ("http.headers.authorization", "Bearer {}"),
    ("sasl.jaas.config", 'org.apache.PlainLoginModule required username="u" password="{}";'),
    ("sasl.jaas.oauth", 'org.apache.OAuthBearerLoginModule required clientId="c" clientSecret="{}";'),
    ("sql.connection", "Server=db;User Id=u;Password={};Encrypt=true"),
    ("azure.storage", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey={};EndpointSuffix=core"),
    ("jdbc.query", "jdbc:postgresql://db/x?user=u&password={}&ssl=true"),
    ("ldap.bind", "cn=admin password={}"),
    ("note.header", "Authorization: Bearer {}"),
    ("worker.opts", "-Xmx1g -Djavax.net.ssl.keyStorePassword={} -Dx=1"),
    ("embedded.json", '{{"user": "u", "password": "{}"}}'),
    ("embedded.yaml", "user: u\npassword: {}\nport: 1\n"),
    ("start.line", "exec bolt --db-password {} --fast"),
    ("http.auth", "Token {}"),
    ("note.scheme", "Authorization: GenieKey {}"),
    ("mysql.line", "mysql -u root -p {}"),
    ("json.within.json", '{{"a": "{{\\"password\\": \\"{}\\"}}"}}'),
    ("written.by.ruby", '{{:password=>"{}"}}'),
    ("written.by.python", "connect(host='h', password=b'{}')"),
    ("written.by.go", "main.Conf{{User:u Password:{} Port:1}}"),
    ("written.by.hadoop", "<property><name>db.password</name><value>{}</value></property>"),
    ("xml", "<db><password>{}</password></db>"),
    ("ini", "[default]\naws_secret_access_key = {}\n"),
    ("netrc", "machine h login u password {}"),
    ("sql", "ALTER USER u WITH PASSWORD '{}'"),
    ("curl", "curl -H 'X-Api-Key: {}' h"),
    ("curl.cookie", "curl -H 'Cookie: JSESSIONID={}' h"),
    ("pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----"),
    ("redis", "redis-cli -a {} ping"),
    ("single.dash", "bolt -password {} -x"),
)
_ENV = (
    ("DB_PASSWORD", "{}"),
    ("DB_PWD", "{}"),
    ("API_KEY", "{}"),
    ("GITHUB_TOKEN", "{}"),
    ("AWS_SECRET_ACCESS_KEY", "{}"),
    ("MYSQL_PASS", "{}"),
    ("SESSION_COOKIE", "{}"),
    ("PROXY_AUTHORIZATION", "Basic {}"),
    ("CONNECTION", "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey={}"),
    ("OPTIONS", "user=u,password={}"),
    ("CURL", "-H 'X-Auth-Token={}'"),
)
_USERINFO = (
    ("conf", "db.url", "jdbc:mysql://root:{}@db:3306/x"),
    ("conf", "http.endpoint", "https://u:{}@h/x"),
    ("conf", "redis.uri", "redis://:{}@cache:6379"),
    ("conf", "oracle.url", "jdbc:oracle:thin:scott/{}@//db:1521/x"),
    ("env", "DATABASE_URL", "postgres://u:{}@db/x"),
    ("env", "HTTPS_PROXY_X", "http://u:{}@proxy:3128"),
    ("conf", "mongo.uri", "mongodb+srv://u:{}@h/x"),
    ("conf", "git.url", "https://{}:x-oauth-basic@github.com/o/r"),
    ("conf", "blob.url", "https://a.blob.core.windows.net/c?sv=2020&sig={}&se=2"),
    ("conf", "hook.url", "https://hooks.slack.com/services/T0/B0/{}"),
    ("argv", "--broker", "amqp://guest:{}@mq:5672"),
    ("argv", "https://u:{}@h/plain", ""),
)
_ARGV = (
    ("--password", "{}"),
    ("--token={}", ""),
    ("--db-pwd", "{}"),
    ("-Ddb.password={}", ""),
    ("api_key={}", ""),
    ("--header", "Authorization: Bearer {}"),
    ("--client-secret={}", ""),
    ("--pass", "{}"),
    ("-p", "{}"),
    ("-p{}", ""),
    ("-u", "user:{}"),
    ("-H", "Authorization: Token {}"),
    ("--auth", "Token {}"),
)
_NESTED: tuple[tuple[str, Any], ...] = (
    ("pools", [{"user": "a", "password": "{}"}, {"user": "b", "password": "{}"}]),
    ("credentials", {"left": "{}", "right": ["{}"]}),
    ("listed", ["--token", "{}"]),
    ("variables", [{"name": "DB_PASSWORD", "value": "{}"}, {"key": "api.token", "value": "{}"}]),
)
_ISSUED = (
    ("github", "ghp_" + "aB3" * 12),
    ("aws", "AKIA" + "ABCDEFGHIJKLMNOP"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz"),
)
NUMBER = 918273645
"""A secret that is a number."""


def planted() -> list[Planted]:
    """Every secret, each another."""
    found = [_conf(number, key, template) for number, (key, template) in enumerate(_CONF)]
    for number, (key, template) in enumerate(_ENV):
        secret = f"3nv-{number:02d}-Hid~den{number * 104729}"
        found.append(Planted("env", key, template.format(secret), secret))
    for number, (where, key, template) in enumerate(_USERINFO):
        secret = f"us3r{number:02d}Info{number * 7907}x"
        found.append(Planted(where, key.format(secret), template.format(secret), secret))
    for number, (key, template) in enumerate(_ARGV):
        secret = f"@rgv-{number:02d}-hidden{number * 1299709}"
        found.append(Planted("argv", key.format(secret), template.format(secret), secret))
    for number, (key, shape) in enumerate(_NESTED):
        first, second = f"n3sted{number}-one-hidden", f"n3sted{number}-two-hidden"
        value = json.loads(json.dumps(shape).replace("{}", first, 1).replace("{}", second, 1))
        found.append(Planted("conf", key, value, first))
        if second in json.dumps(value):
            found.append(Planted("conf", key, value, second))
    found += [Planted("conf", f"seen.{name}", f"with {token} in it", token) for name, token in _ISSUED]
    return [*found, Planted("conf", "door.token", NUMBER, str(NUMBER))]


def of(where: str) -> dict[str, Any]:
    """What is planted in a conf or an environment."""
    return {each.key: each.value for each in planted() if each.where == where}


def words() -> list[str]:
    """The words of a command in which secrets are planted."""
    return [word for each in planted() if each.where == "argv" for word in (each.key, each.value) if word]


def spelt(secret: str) -> set[bytes]:
    """What must not be found: the secret as it is, in JSON, in a URL and in base64, and a large part of it."""
    plain = secret.encode()
    ways = {plain, plain.replace(b"/", b"\\/"), quote(secret, safe="").encode(), base64.b64encode(plain)[:-4]}
    return ways | {secret.replace("/", "%2F").encode()}


def unpacked(data: bytes, depth: int = 6) -> Iterator[bytes]:
    """A file, and all that is packed in it: gzip, zip, base64."""
    yield data
    if not depth:
        return
    if data[:2] == b"\x1f\x8b":
        yield from unpacked(zlib.decompressobj(31).decompress(data), depth - 1)
    elif data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from unpacked(archive.read(name), depth - 1)
    else:
        for match in re.finditer(rb"[A-Za-z0-9+/]{24,}={0,2}", data):
            text = match[0]
            try:
                inner = base64.b64decode(text + b"=" * (-len(text) % 4))
            except ValueError:
                continue
            yield from unpacked(inner, 1 if inner[:2] != b"\x1f\x8b" else depth - 1)


def leaks(data: bytes) -> list[str]:
    """The planted secrets that are found in a file, as it is or unpacked."""
    pieces = b"\0".join(unpacked(data))
    return [each.secret for each in planted() if any(way in pieces for way in spelt(each.secret))]


def leaks_below(folder: Path, *, but: set[Path]) -> dict[str, list[str]]:
    """The same for all files of a folder, `but` for some, by their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in but]
    found = {str(path.relative_to(folder)): leaks(path.read_bytes()) for path in files}
    return {name: secrets for name, secrets in found.items() if secrets}
