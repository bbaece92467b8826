"""Why a component ended, by the last that it wrote, as runtimes of many languages write it."""

from __future__ import annotations

import pytest

from multilang_cli.catalogue.loader import load_tracebacks
from multilang_cli.causes.model import Place
from multilang_cli.causes.tracebacks import SHOWN_WHOLE, last_line, shown_lines
from multilang_cli.reports.failure import last_stderr_lines
from multilang_cli.suite.verdict.refusals import misses_a_field

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
    "ruby, as storm.rb tells it": """Exception in bolt: no name - /usr/lib/ruby/3.1.0/json/common.rb:216:in `parse'
bolt.rb:6:in `process'
/srv/storm.rb:194:in `run'
""",
    "ruby, as storm.rb tells it with the line": """Exception in bolt: undefined method `split' for nil:NilClass

    tup.values[0].split(" ").each do |word|
                 ^^^^^^ - bolt.rb:5:in `process'
/srv/storm.rb:194:in `run'
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
    "rust, of a thread whose worker is gone": """thread '<unnamed>' (72) panicked at src/main.rs:15:14:
assertion failed: self.is_char_boundary(new_len)
stack backtrace:
   0: __rustc::rust_begin_unwind

thread '<unnamed>' (73) panicked at src/main.rs:31:9:
the counts: PoisonError { .. }

thread 'main' (71) panicked at src/main.rs:20:64:
worker is gone: SendError { .. }
stack backtrace:
   0: __rustc::rust_begin_unwind
""",
    "rust, of a lock, with no other before": "thread 'main' panicked at src/main.rs:4:5:\na lock: PoisonError { .. }\n",
    "php": """PHP Fatal error:  Uncaught TypeError: f(): Argument #1 must be of type string in /b.php:4
Stack trace:
#0 {main}
""",
    "php, a warning": "PHP Warning:  Undefined array key 1 in /srv/b.php on line 9\n",
    "c++": """terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check
""",
    "perl": 'Can\'t locate object method "user" via package "Tuple" at b.pl line 7.\n',
    "lua, by its path": """/usr/bin/lua: words.lua:16: Cannot serialise number
stack traceback:
\t[C]: in function 'cjson.encode'
""",
    "r": """Error in x[[3]] : subscript out of bounds
Calls: handle -> word
Execution halted
""",
    "r, a long call": "Error in fromJSON(paste(lines)) : \n  unexpected character 'e'\nExecution halted\n",
    "r, that it can't parse": "Error: unexpected ')' in \"f())\"\nExecution halted\n",
    "haskell": "firstlong: Prelude.head: empty list\n",
    "haskell, with its calls": """b: no model
CallStack (from HasCallStack):
  error, called at Main.hs:3:8 in main:Main
""",
    "haskell, patterns": "b: Main.hs:(12,1)-(13,20): Non-exhaustive patterns in function word\n",
    "d": """std.conv.ConvOverflowException@/usr/lib/ldc/include/d/std/conv.d(2504): Overflow in integral conversion
----------------
??:? [0x560552fef680]
""",
    "crystal": """Unhandled exception in spawn: Error writing file: Broken pipe (IO::Error)
  from /usr/lib/crystal/lib/io/evented.cr:82:13 in 'unbuffered_write'
  from fib.cr:27:5 in '->'
  from ???
""",
    "lisp": """Unhandled SB-C::INPUT-ERROR-IN-LOAD in thread #<SB-THREAD:THREAD "main thread" RUNNING
                                                 {1001348003}>:
  READ error during LOAD:

    Package SB-POSIX does not exist.

      Line: 56, Column: 45, File-Position: 2324

Backtrace for: #<SB-THREAD:THREAD "main thread" RUNNING {1001348003}>
0: (SB-DEBUG::DEBUGGER-DISABLED-HOOK)
""",
    "lisp, of a call": """Unhandled TYPE-ERROR in thread #<SB-THREAD:THREAD "main thread" RUNNING {1001}>:
  The value NIL is not of type NUMBER

Backtrace for: #<SB-THREAD:THREAD "main thread" RUNNING {1001}>
""",
    "erlang": "escript: exception error: no match of right hand side value [1,2]\n  in function  erl_eval:expr/6\n",
    "scheme": "ERROR: In procedure car:\nIn procedure car: Wrong type (expecting pair): 1\n",
    "tcl": """unmatched open brace in list
    while executing
"foreach word $sentence {
        incr seen($word)
    }"
    ("while" body line 8)
    invoked from within
"while 1 {
    set text [hear]
    (file "bolt.tcl" line 27)
""",
    "nothing of the kind": "INFO starting\nbye\n",
    "nothing": "",
}
CAUSES = {
    "python": "IndexError: list index out of range",
    "python, of a module": "json.decoder.JSONDecodeError: Expecting value: line 1",
    "python, two": "ValueError: no b",
    "ruby": "undefined method `split' for nil:NilClass (NoMethodError)",
    "ruby, as storm.rb tells it": "no name",
    "ruby, as storm.rb tells it with the line": "undefined method `split' for nil:NilClass",
    "node": "TypeError: Cannot read properties of undefined (reading 'name')",
    "node, with a code": "RangeError [ERR_OUT_OF_RANGE]: no",
    "java": "java.lang.ArrayIndexOutOfBoundsException: Index 1 out of bounds",
    "c#": "System.IndexOutOfRangeException: Index was outside the bounds of the array.",
    "go": "runtime error: index out of range [1] with length 1",
    "rust": "index out of bounds: the len is 1 but the index is 5",
    "rust, before 1.73": "no field",
    "rust, of a thread whose worker is gone": "assertion failed: self.is_char_boundary(new_len)",
    "rust, of a lock, with no other before": "a lock: PoisonError { .. }",
    "php": "Uncaught TypeError: f(): Argument #1 must be of type string",
    "php, a warning": "Undefined array key 1",
    "c++": "vector::_M_range_check",
    "perl": 'Can\'t locate object method "user" via package "Tuple" at b.pl line 7',
    "lua, by its path": "words.lua:16: Cannot serialise number",
    "r": "subscript out of bounds",
    "r, a long call": "unexpected character 'e'",
    "r, that it can't parse": "unexpected ')' in \"f())\"",
    "haskell": "Prelude.head: empty list",
    "haskell, with its calls": "no model",
    "haskell, patterns": "Main.hs:(12,1)-(13,20): Non-exhaustive patterns in function word",
    "d": "Overflow in integral conversion",
    "crystal": "Error writing file: Broken pipe (IO::Error)",
    "lisp": "Package SB-POSIX does not exist.",
    "lisp, of a call": "The value NIL is not of type NUMBER",
    "erlang": "no match of right hand side value [1,2]",
    "scheme": "In procedure car: Wrong type (expecting pair): 1",
    "tcl": "unmatched open brace in list",
    "nothing of the kind": "",
    "nothing": "",
}


def cause_in(text: str) -> str:
    """The exception that a text ends with."""
    death = load_tracebacks().death_in(text)
    return death.text if death else ""


@pytest.mark.parametrize("language", WRITTEN)
def test_the_exception_is_found(language: str) -> None:
    assert cause_in(WRITTEN[language]) == CAUSES[language]


def test_long_exceptions_are_cut_and_the_last_line_is_one_that_holds_something() -> None:
    assert cause_in(f"ValueError: {'x' * 999}").endswith("xxx...")
    assert (last_line("a\nb \n\n"), last_line(" \n")) == ("b", "")


FRAMES = {
    "python": (
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 40, in <module>
    main()
  File "/srv/bolt.py", line 20, in process
    count = m["tuple"][1] + 1
            ~~~~~~~~~~^^^
  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode
    obj, end = self.raw_decode(s)
IndexError: list index out of range
""",
        Place("bolt.py", 20, 'count = m["tuple"][1] + 1', "        ~~~~~~~~~~^^^"),
    ),
    "python, in the adapter that was copied beside it": (
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 7, in process
    word = tup.values[3]
  File "/srv/storm.py", line 99, in values
    return self._values[index]
IndexError: list index out of range
""",
        Place("bolt.py", 7, "word = tup.values[3]"),
    ),
    "python, a file that it can't read": (
        """  File "/srv/bolt.py", line 4
    y = 2
TabError: inconsistent use of tabs and spaces in indentation
""",
        Place("bolt.py", 4, "y = 2"),
    ),
    "python, a copied adapter that it can't read": (
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 1, in <module>
    import storm
  File "/srv/storm.py", line 22
    <!DOCTYPE html>
    ^
SyntaxError: invalid syntax
""",
        Place("storm.py", 22, "<!DOCTYPE html>", "^"),
    ),
    "node": (
        """/srv/lib.js:7
    tup.user.name
             ^

TypeError: Cannot read properties of undefined (reading 'name')
    at Bolt.process (/srv/lib.js:7:14)
    at node:internal/x:1:1
""",
        Place("lib.js", 7),
    ),
    "node, JSON that it can't read": (
        """<anonymous_script>:1
undefined
^

SyntaxError: "undefined" is not valid JSON
    at JSON.parse (<anonymous>)
    at Bolt.process (/srv/bolt.js:14:28)
    at Socket.<anonymous> (/srv/lib/protocol.js:38:10)
    at Socket.emit (node:events:524:28)
""",
        Place("bolt.js", 14),
    ),
    "elixir": (
        """** (MatchError) no match of right hand side value: 1
    lib/bolt.exs:2: A.f/1
    (elixir 1.14.0) lib/code.ex:1245: Code.require_file/2
""",
        Place("lib/bolt.exs", 2),
    ),
    "awk": ("gawk: /srv/bolt.awk:2: (FILENAME=- FNR=1) fatal: division by zero attempted\n", Place("bolt.awk", 2)),
    "ruby": (
        """/srv/bolt.rb:12:in `process': undefined method `split' for nil:NilClass (NoMethodError)
\tfrom /srv/storm.rb:9:in `run'
""",
        Place("bolt.rb", 12),
    ),
    "ruby, with the exception in whose handler it was thrown": (
        """/srv/bolt.rb:25:in `rescue in each': undefined method `wait_readable' for #<IO:<STDIN>> (NoMethodError)

      @input.wait_readable(0.2)
            ^^^^^^^^^^^^^^
\tfrom /srv/bolt.rb:20:in `block in each'
<internal:io>:63:in `read_nonblock': read would block (IO::EAGAINWaitReadable)
\tfrom /srv/bolt.rb:20:in `block in each'
""",
        Place("bolt.rb", 25),
    ),
    "ruby, that sees all its threads wait": (
        """/srv/bolt.rb:34:in `pop': No live threads left. Deadlock? (fatal)
2 threads, 2 sleeps current:0x0000 main thread:0x0001
* #<Thread:0x1 sleep_forever>
   rb_thread_t:0x0001 native:0x1 int:0
\x20\x20\x20
* #<Thread:0x2 /srv/bolt.rb:21 sleep_forever>
   rb_thread_t:0x0000 native:0x2 int:0
\x20\x20\x20
\tfrom /srv/bolt.rb:34:in `block in <main>'
\tfrom /srv/bolt.rb:27:in `loop'
""",
        Place("bolt.rb", 34),
    ),
    "ruby, several errors of syntax": (
        """/srv/bolt.rb:51: syntax error, unexpected terminator, expecting literal content
  in { 'stream' => '__heartbeat' }
              ^
/srv/bolt.rb:51: syntax error, unexpected '}', expecting `end'
...n { 'stream' => '__heartbeat' }
...                              ^
/srv/bolt.rb:56: syntax error, unexpected `in', expecting end-of-input
""",
        Place("bolt.rb", 51),
    ),
    "ruby, of two threads": (
        """#<Thread:0x1 /srv/bolt.rb:9 run> terminated with exception (report_on_exception is true):
/srv/bolt.rb:9:in `f': no (RuntimeError)
#<Thread:0x2 /srv/bolt.rb:9 run> terminated with exception (report_on_exception is true):
/srv/bolt.rb:12:in `f': no (RuntimeError)
""",
        Place("bolt.rb", 12),
    ),
    "ruby, as storm.rb tells it": (WRITTEN["ruby, as storm.rb tells it"], Place("bolt.rb", 6)),
    "perl": ("Died at /srv/bolt.pl line 7, <STDIN> line 4.\n", Place("bolt.pl", 7)),
    "php": (
        "PHP Fatal error:  Uncaught TypeError: no in /srv/b.php:4\nStack trace:\n#0 /srv/b.php(9): f()\n",
        Place("b.php", 4),
    ),
    "go": (
        """panic: runtime error: index out of range [1] with length 1

goroutine 1 [running]:
runtime.goPanicIndex()
\t/usr/local/go/src/runtime/panic.go:113 +0x72
main.main()
\t/srv/main.go:12 +0x1d
""",
        Place("main.go", 12),
    ),
    "go, thrown again by the function that recovers it": (
        """panic: runtime error: index out of range [0] with length 0 [recovered]
\tpanic: Recovered panic: runtime error: index out of range [0] with length 0

goroutine 1 [running]:
log.Panicf({0x50e0b4?, 0x11d0a464dd20?}, {0x11d0a464dcd8?, 0x11d0a464dce8?, 0x448885?})
\t/usr/local/go/src/log/log.go:460 +0x74
main.main.func1()
\t/srv/main.go:43 +0x45
panic({0x500d20?, 0x11d0a4630510?})
\t/usr/local/go/src/runtime/panic.go:860 +0x13a
main.main()
\t/srv/main.go:56 +0x279
""",
        Place("main.go", 56),
    ),
    "java": (
        """Exception in thread "main" java.lang.IllegalStateException: no
\tat java.base/java.util.List.get(List.java:3)
\tat com.example.Bolt.process(Bolt.java:33)
""",
        Place("Bolt.java", 33),
    ),
    "java, caught and printed": (
        """java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 1
\tat ThirdWord.process(ThirdWord.java:63)
\tat ThirdWord.main(ThirdWord.java:89)
""",
        Place("ThirdWord.java", 63),
    ),
    "mono": (
        """Unhandled Exception:
System.IndexOutOfRangeException: Index was outside the bounds of the array.
  at B.Main () [0x00001] in /srv/b.cs:12
""",
        Place("b.cs", 12),
    ),
    "mono, as it ends": (
        """
Unhandled Exception:
System.IndexOutOfRangeException: Index was outside the bounds of the array.
  at B.Main () [0x00001] in /srv/b.cs:12
[ERROR] FATAL UNHANDLED EXCEPTION: System.IndexOutOfRangeException: Index was outside the bounds of the array.
  at B.Main () [0x00001] in /srv/b.cs:12
""",
        Place("b.cs", 12),
    ),
    "shell": ("/srv/bolt.sh: line 3: foo: command not found\n", Place("bolt.sh", 3)),
    "a file elsewhere": ('Traceback (most recent call last):\n  File "/opt/x.py", line 1, in f\nE: x\n', None),
}


@pytest.mark.parametrize("name", FRAMES)
def test_the_nearest_frame_of_the_users_own_file_is_found(name: str) -> None:
    text, place = FRAMES[name]
    death = load_tracebacks().death_in(text, ("/srv",))
    assert death is not None
    assert death.place == place


CALLED_BY = {
    "python": (
        (
            'Traceback (most recent call last):\n  File "b.py", line 9, in main\n    process(read())\n'
            '  File "b.py", line 5, in process\n    n = amount(t)\n'
            '  File "b.py", line 2, in amount\n    return int(t)\nValueError: no\n'
        ),
        Place("b.py", 5, "n = amount(t)"),
    ),
    "node": (
        "/srv/b.js:7\n\nTypeError: no\n    at divide (/srv/b.js:7:14)\n    at execute (/srv/b.js:34:15)\n",
        Place("b.js", 34),
    ),
    "a frame of a library alone": (
        (
            'Traceback (most recent call last):\n  File "/usr/lib/python3/x.py", line 9, in run\n    f()\n'
            '  File "b.py", line 2, in amount\n    return int(t)\nValueError: no\n'
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", CALLED_BY)
def test_who_called_the_line_that_threw_is_told(name: str) -> None:
    text, caller = CALLED_BY[name]
    death = load_tracebacks().death_in(text, ["/srv"])
    assert death is not None
    assert next(iter(death.callers), None) == caller


def test_stderr_is_cut_between_lines_and_keeps_the_last_traceback() -> None:
    traceback = FRAMES["python"][0]
    few = "".join(f"line {n}\n" for n in range(8)) + traceback
    assert shown_lines(few, None) == few.splitlines()
    many = "".join(f"line {n}\n" for n in range(90)) + traceback
    shown = shown_lines(many, load_tracebacks().death_in(many))
    assert shown[:5] == [f"line {n}" for n in range(5)]
    assert shown[5] == "... (85 lines left out) ..."
    assert shown[6:] == traceback.splitlines()
    long = "".join(f"line {n}\n" for n in range(90)) + traceback.replace("    main()\n", "    main()\n" * 60)
    shown = shown_lines(long, load_tracebacks().death_in(long))
    assert len(shown) <= SHOWN_WHOLE + 1
    assert shown[6] == "Traceback (most recent call last):"
    assert shown[-1] == "IndexError: list index out of range"


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


@pytest.mark.parametrize(
    ("said", "misread"),
    [
        ("bad message: EOF while parsing a value at line 2 column 0", True),
        ('Error: Error("expected value", line: 1, column: 1)', True),
        ('Error: Error("missing field `id`", line: 1, column: 9)', False),
        ("bad message: invalid type: null, expected a string at line 1 column 12", False),
        ("called `Result::unwrap()` on an `Err` value: missing field `id` at line 1 column 9, serde_json", False),
    ],
)
def test_json_of_another_shape_is_no_text_that_can_not_be_read(said: str, *, misread: bool) -> None:
    assert load_tracebacks().misread_in(said) is misread


CHAIN = """Traceback (most recent call last):
  File "/srv/bolt.py", line 6, in process
    key = tup.values[3]
{first}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/bolt.py", line 8, in process
    {code}
{last}
"""
NAME = "NameError: name 'key' is not defined"


@pytest.mark.parametrize(
    ("first", "code", "last", "line", "told"),
    [
        ("IndexError: no", "log(key)", NAME, 6, f"IndexError: no; and then: {NAME}"),
        (
            "IndexError: no",
            "log(traceback.format_exc(e))",
            "TypeError: '>='",
            6,
            "IndexError: no; and then: TypeError: '>='",
        ),
        ("IndexError: no", "if key: raise NameError(key)", NAME, 8, NAME),
        ("KeyError: 'word'", "cache[word] = load(word)", "ConnectionError: no", 8, "ConnectionError: no"),
        ("KeyError: 'word'", "cache[word] = load(word)", "TypeError: no", 8, "TypeError: no"),
    ],
)
def test_what_a_handler_raises_by_accident_is_a_consequence(
    first: str, code: str, last: str, line: int, told: str
) -> None:
    death = load_tracebacks().death_in(CHAIN.format(first=first, code=code, last=last), ("/srv",))
    assert death is not None
    assert death.told == told
    assert death.place is not None
    assert death.place.line == line


def test_a_long_chain_takes_no_long_time_and_is_followed_some_way() -> None:
    link = CHAIN.format(first="IndexError: no", code="log(key)", last=NAME).partition("\nTraceback")
    text = link[0] + 900 * f"{link[1]}{link[2]}\nDuring handling of the above exception, another exception occurred:\n"
    death = load_tracebacks().death_in(f"{text}{link[1]}{link[2]}", ("/srv",))
    assert death is not None
    assert (death.text, death.then) == (NAME, NAME)


SHELL = {
    "the line right before": ("../lib/storm.sh: No such file or directory", 4),
    "long before": ("jq: command not found", 40),
}


@pytest.mark.parametrize("name", SHELL)
def test_a_shells_missing_file_is_the_cause_of_what_comes_right_behind_it(name: str) -> None:
    told, line = SHELL[name]
    between = "" if name == "the line right before" else "starting\n"
    last = "b.sh: line 40: jq: command not found\n"
    text = f"b.sh: line 4: ../lib/storm.sh: No such file or directory\n{between}{last}"
    death = load_tracebacks().death_in(text, ("/srv",), "shell")
    assert death is not None
    assert death.text == told
    assert death.place is not None
    assert death.place.line == line


def test_a_text_that_was_evaluated_is_in_no_file_of_the_users() -> None:
    text = """Traceback (most recent call last):
  File "/srv/bolt.py", line 6, in process
    ast.literal_eval(word)
  File "/usr/lib/python3.11/ast.py", line 64, in literal_eval
    node_or_string = parse(node_or_string.lstrip(" \\t"), mode='eval')
  File "<unknown>", line 1
    snow white
         ^^^^^
SyntaxError: invalid syntax
"""
    death = load_tracebacks().death_in(text, ("/srv",))
    assert death is not None
    assert death.place == Place("bolt.py", 6, "ast.literal_eval(word)")


def test_the_last_lines_of_stderr_begin_with_the_exception_that_they_belong_to() -> None:
    crystal = WRITTEN["crystal"].splitlines()
    assert last_stderr_lines(crystal, 3) == [crystal[0], *crystal[2:]]
    python = WRITTEN["python"].splitlines()
    assert last_stderr_lines(python, 3) == python[-3:]
    assert last_stderr_lines(["a", "b", "c", "d"], 2) == ["c", "d"]


def test_another_thread_called_nothing_of_what_the_first_one_did() -> None:
    said = (
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan send]:\nmain.main()\n"
        "\t/srv/main.go:87 +0x1\n"
        "\ngoroutine 5 [chan receive]:\nmain.emit(...)\n\t/srv/main.go:40\ncreated by main.main in goroutine 1\n"
        "\t/srv/main.go:60 +0x1\n"
    )
    death = load_tracebacks().death_in(said, ["/srv"], "go")
    assert death is not None
    assert death.place == Place("main.go", 87)
    assert death.callers == ()
