"""Why a component ended, by the last that it wrote, as runtimes of many languages write it."""

from __future__ import annotations

import pytest

from multilang_cli.suite.last_words import cause_in, last_line, misses_a_field

WRITTEN = {
    "python": """Traceback (most recent call last):
  File "b.py", line 3, in process
    tup.values[1]
IndexError: list index out of range
""",
    "python, of a module": """Traceback (most recent call last):
json.decoder.JSONDecodeError: Expecting value: line 1
""",
    "python, two": """KeyError: 'a'

During handling of the above exception, another exception occurred:

ValueError: no b
""",
    "ruby": """bolt.rb:12:in `process': undefined method `split' for nil:NilClass (NoMethodError)
\tfrom storm.rb:9:in `run'
""",
    "node": """/srv/bolt.js:7
    tup.user.name
             ^

TypeError: Cannot read properties of undefined (reading 'name')
    at Bolt.process (/srv/bolt.js:7:14)

Node.js v20.1.0
""",
    "node, with a code": "RangeError [ERR_OUT_OF_RANGE]: no\n    at x (b.js:1:1)\n",
    "java": """Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 1 out of bounds
\tat B.main(B.java:3)
""",
    "c#": """Unhandled exception. System.IndexOutOfRangeException: Index was outside the bounds of the array.
   at B.Main() in b.cs
""",
    "go": """panic: runtime error: index out of range [1] with length 1

goroutine 1 [running]:
main.main()
""",
    "rust": """thread 'main' panicked at src/main.rs:4:5:
index out of bounds: the len is 1 but the index is 5
note: run with ...
""",
    "rust, before 1.73": "thread 'main' panicked at 'no field', src/main.rs:4:5\nnote: run\n",
    "php": """PHP Fatal error:  Uncaught TypeError: f(): Argument #1 must be of type string in /b.php:4
Stack trace:
#0 {main}
""",
    "php, a warning": "PHP Warning:  Undefined array key 1 in /srv/b.php on line 9\n",
    "c++": """terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check
""",
    "perl": 'Can\'t locate object method "user" via package "Tuple" at b.pl line 7.\n',
    "nothing of the kind": "INFO starting\nbye\n",
    "nothing": "",
}
CAUSES = {
    "python": "IndexError: list index out of range",
    "python, of a module": "json.decoder.JSONDecodeError: Expecting value: line 1",
    "python, two": "ValueError: no b",
    "ruby": "undefined method `split' for nil:NilClass (NoMethodError)",
    "node": "TypeError: Cannot read properties of undefined (reading 'name')",
    "node, with a code": "RangeError [ERR_OUT_OF_RANGE]: no",
    "java": "java.lang.ArrayIndexOutOfBoundsException: Index 1 out of bounds",
    "c#": "System.IndexOutOfRangeException: Index was outside the bounds of the array.",
    "go": "runtime error: index out of range [1] with length 1",
    "rust": "index out of bounds: the len is 1 but the index is 5",
    "rust, before 1.73": "no field",
    "php": "Uncaught TypeError: f(): Argument #1 must be of type string",
    "php, a warning": "Undefined array key 1",
    "c++": "vector::_M_range_check",
    "perl": 'Can\'t locate object method "user" via package "Tuple" at b.pl line 7',
    "nothing of the kind": "",
    "nothing": "",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_the_exception_is_found(language: str) -> None:
    assert cause_in(WRITTEN[language]) == CAUSES[language]


def test_the_first_text_that_tells_one_counts() -> None:
    assert cause_in("INFO bye", "KeyError: 'a'") == cause_in("KeyError: 'a'", "IndexError: x") == "KeyError: 'a'"
    assert cause_in(f"ValueError: {'x' * 999}").endswith("xxx...")
    assert (last_line("a\nb \n\n"), last_line(" \n")) == ("b", "")


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        ("KeyError: 'user'", True),
        ("AttributeError: 'Tuple' object has no attribute 'user'", True),
        ("undefined method `user' for nil:NilClass (NoMethodError)", True),
        ("key not found: :user (KeyError)", True),
        ("TypeError: Cannot read properties of undefined (reading 'name')", True),
        ('Undefined array key "user"', True),
        ('Can\'t locate object method "user" via package "Tuple" at b.pl line 7', True),
        ("java.lang.IllegalArgumentException: user does not exist", True),
        ("System.Collections.Generic.KeyNotFoundException: The given key 'user' was not present", True),
        ("IndexError: list index out of range", False),
        ("ValueError: invalid literal for int() with base 10: 'snow'", False),
        ("", False),
    ],
)
def test_a_name_that_is_not_there_is_told_from_the_rest(cause: str, *, expected: bool) -> None:
    assert misses_a_field(cause) is expected
