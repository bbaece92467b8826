"""Readings of a frame that strict reading refuses, by each JSON parser of Storm.

Three dialects: ``simple-quiet`` (Storm up to 1.0.2), ``simple`` (1.0.3 to 2.5: json-simple, once without and once with
its error texts) and ``smart`` (2.6 and later: json-smart in its permissive mode). Exact emulations, checked against the
real parsers; slow beside a strict parser, so only for irregular frames.
"""

from multilang_cli.protocol.storm.dialects.java import DIALECTS, BigInteger, Dialect, JavaError, java_class, wrap
from multilang_cli.protocol.storm.dialects.json_smart import is_beyond_scale, is_big_decimal
from multilang_cli.protocol.storm.dialects.reading import JavaParsed, decode, parse, readings, readings_of, text_of
from multilang_cli.protocol.storm.dialects.shell import ShellMsg, pid_of, shell_msg, to_command

__all__ = [
    "DIALECTS",
    "BigInteger",
    "Dialect",
    "JavaError",
    "JavaParsed",
    "ShellMsg",
    "decode",
    "is_beyond_scale",
    "is_big_decimal",
    "java_class",
    "parse",
    "pid_of",
    "readings",
    "readings_of",
    "shell_msg",
    "text_of",
    "to_command",
    "wrap",
]
