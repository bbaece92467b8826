"""The line of a source that wrote a text is named only if no other could have."""

from __future__ import annotations

import pytest

from multilang_cli.catalogue.loader import load_causes, load_tracebacks, plain
from multilang_cli.catalogue.locate import data_path
from multilang_cli.causes.model import Place
from multilang_cli.causes.origin import only_line, only_line_with, origin_of

TEXTS = {
    "a format": ("bad line 7 of x", ["f = 1", 'print("bad line %d of %s" % (n, f))'], 2),
    "an f-string": ("bad line 7", ['print(f"bad line {n}")'], 1),
    "an interpolation of Ruby": ("bad line 7", ['puts "bad line #{n}"'], 1),
    "a template of JavaScript": ("bad line 7", ["console.log(`bad line ${n}`)"], 1),
    "a variable of Perl": ("bad line 7", ['print "bad line $n\\n";'], 1),
    "a word of a shell": ("counted 7 words", ["  echo counted $n words", "echo done"], 1),
    "the line that has more of it": ("bad line: no number", ['a("bad line")', 'b("bad line: no number")'], 2),
    "two lines that have the same": ("bad line 7", ['a("bad line")', 'b("bad line")'], None),
    "a comment": ("bad line 7", ['# print("bad line")'], None),
    "a value and nothing of the program's": ("[1, 2]", ['print("a, b")', "print(value)"], None),
    "a text with a clock before it": ("12:00:01 INFO bad line", ['log("bad line")'], 1),
    "a text of a logger with names": (
        "WARNING LabResults: unit mmol/L taken for mmol/l",
        ['LOG.warning("unit " + unit + " taken for " + kind.unit);', 'UNITS = Map.of("mmol/l", 1.0);'],
        1,
    ),
    "a level that the program writes": ("ERROR: no rain 7", ['print("ERROR: no " + what)', 'print("rain ")'], 1),
    "a name that stands in it": ("renamed 'incoming/a.txt' -> 'done/a.txt'", ['DIR = "incoming"'], None),
    "the name of its file": ("FAILED_words_bolt_ImportError", ['log = logging.getLogger("words_bolt")'], None),
    "a piece that may be chance": ("word: tuple", ['m["tuple"]'], None),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_line_that_wrote_it(name: str) -> None:
    text, lines, expected = TEXTS[name]
    place = origin_of(text, {"src/words_bolt.py": lines})
    assert (place and place.line) == expected


STARTERS = {
    "a call of Python": ("python", ['    subprocess.call(["mv", a, b])', "    print(1, file=sys.stdout)"], 1),
    "one of more lines": ("python", ["subprocess.run(", '    ["mv", a, b(c)],', "    stdout=sys.stderr,", ")"], None),
    "one that catches what it says": ("python", ["subprocess.run(list(a), capture_output=True)"], None),
    "two": ("python", ["os.system(a)", "os.system(b)"], None),
    "a call of Ruby": ("ruby", ['  system("mv", a, b)'], 1),
    "one with another stdout": ("ruby", ['system("mv", a, out: :err)'], None),
    "a call of Perl": ("perl", ['system("mv $a $b");'], 1),
    "one with a redirection": ("perl", ['system("mv $a $b >&2");'], None),
    "a call of PHP": ("php", ['passthru("mv $a $b");'], 1),
    "a call of JavaScript": ("javascript", ["spawnSync('mv', [a, b], {stdio: 'inherit'});"], 1),
    "stdio of each": ("javascript", ["spawn('mv', [a], { stdio: ['ignore', 'inherit', 2] });"], 1),
    "a call of Go": ("go", ["\tcommand.Stdout = os.Stdout"], 1),
    "a call of Lua": ("lua", ["  os.execute('mv ' .. a)", "print(a)"], 1),
    "a pipe of Lua to write to": ("lua", ['local wc = io.popen("wc " .. f(a), "w")', 'io.popen("ls", "r")'], 1),
    "a call of R": ("r", ['system(paste("mv", a))', 'x <- system("date", intern = TRUE)'], 1),
    "a call of Java": ("java", ["new ProcessBuilder(command).inheritIO().start();", "pipe.start();"], 1),
    "a call of awk": ("awk", ['{ system("mv " $1) }', 'system("mv a b >&2")', "a || b { print 1 }"], 1),
    "a pipe of awk": ("awk", ['print text | "sort"', 'print text | "cat >&2"', 'print "a > b"'], 1),
    "a comment": ("python", ['# os.system("mv")'], None),
}


@pytest.mark.parametrize("name", STARTERS)
def test_the_line_that_starts_a_program_on_the_same_stdout(name: str) -> None:
    language, lines, expected = STARTERS[name]
    place = only_line(load_tracebacks().starts(language), {"bolt": lines})
    assert (place and place.line) == expected


def test_each_pattern_of_a_suspect_can_be_looked_for() -> None:
    patterns = {(cause.id, one) for cause in load_causes() for each in cause.suspects.values() for one in each}
    assert len(patterns) > 400
    nothing = {"bolt": ["", "# nothing of the kind"]}
    assert [(cause, pattern) for cause, pattern in patterns if only_line_with(pattern, nothing)] == []


def test_a_language_has_its_suspects_in_one_place_of_a_cause() -> None:
    for cause in load_causes():
        written = plain(data_path("conformance", "causes", f"{cause.id}.yaml")).get("suspects", {})
        languages = [language for several in written for language in several.split(", ")]
        assert sorted(languages) == sorted(cause.suspects), cause.id


def test_a_suspect_is_looked_for_in_all_of_a_line_and_nowhere_behind_it() -> None:
    sources = {"bolt.py": ["import sys", "sys.stdin.reconfigure(encoding='Latin-1')", "# latin-1"]}
    place = only_line_with("(?i)latin.?1", sources)
    assert (place and place.line) == 2


def test_blank_lines_before_a_suspect_are_no_other_lines() -> None:
    lines = ["import sys", "", "    ", '    print("no table")', "", "    print(word)"]
    prints = next(each for each in load_causes() if each.id == "prints-to-stdout").suspects["python"]
    assert only_line_with(prints[0], {"bolt.py": lines[:4]}) == Place("bolt.py", 4, 'print("no table")')
    found = [only_line_with(pattern, {"bolt.py": lines}) for pattern in prints]
    assert found[:2] == [None, Place("bolt.py", 6, "print(word)")]


STANDING = {
    "a lock of Python": (
        "python",
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 40, in <module>
    main()
  File "/srv/bolt.py", line 15, in count
    with LOCK:
  File "/usr/lib/python3.11/threading.py", line 1119, in join
    self._wait_for_tstate_lock()
KeyboardInterrupt
""",
        15,
    ),
    "a coroutine of Python": (
        "python",
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 12, in main
    await queue.get()
  File "/usr/lib/python3.11/asyncio/queues.py", line 158, in get
    await getter
asyncio.exceptions.CancelledError

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/bolt.py", line 30, in <module>
    asyncio.run(main())
KeyboardInterrupt
""",
        12,
    ),
    "a handler of Python": (
        "python",
        """Traceback (most recent call last):
  File "/srv/bolt.py", line 61, in fetch
    with urllib.request.urlopen(url, timeout=3) as answer:
urllib.error.URLError: <urlopen error [Errno 111] Connection refused>

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/bolt.py", line 90, in process
    return self.fetch(url)
  File "/srv/bolt.py", line 71, in fetch
    time.sleep(delay)
KeyboardInterrupt

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/bolt.py", line 99, in close
    self.lock.acquire()
KeyboardInterrupt
""",
        71,
    ),
    "a queue of Ruby": (
        "ruby",
        "/srv/bolt.rb:8:in `pop': Interrupt\n\tfrom /srv/bolt.rb:8:in `lookup'\n\tfrom /srv/bolt.rb:13:in `<main>'\n",
        8,
    ),
    "a mutex of Go": (
        "go",
        """SIGQUIT: quit
PC=0x46d4c1 m=0 sigcode=0

goroutine 1 [sync.Mutex.Lock]:
sync.runtime_SemacquireMutex(0x0?, 0x0?, 0x0?)
\t/usr/local/go/src/runtime/sema.go:95 +0x25
main.again(...)
\t/srv/main.go:12
main.main()
\t/srv/main.go:16 +0x5e5
""",
        12,
    ),
    "a full channel of Go, while the first goroutine waits for work": (
        "go",
        """SIGQUIT: quit
PC=0x485aa1 m=0 sigcode=0

goroutine 1 gp=0x1 m=nil [chan receive]:
main.main()
\t/srv/main.go:152 +0x154

goroutine 6 gp=0x2 m=nil [chan send]:
main.(*component).readLoop(0x1)
\t/srv/main.go:107 +0x1a
created by main.main in goroutine 1
\t/srv/main.go:150 +0xa
""",
        107,
    ),
    "a first goroutine of Go that waits for no other": (
        "go",
        """SIGQUIT: quit
PC=0x485aa1 m=0 sigcode=0

goroutine 1 gp=0x1 m=nil [sleep]:
main.main()
\t/srv/main.go:52 +0x154

goroutine 6 gp=0x2 m=nil [chan send]:
main.work(0x1)
\t/srv/main.go:107 +0x1a
""",
        52,
    ),
    "a first goroutine of Go that is kept by those it sends to": (
        "go",
        """SIGQUIT: quit
PC=0x485aa1 m=0 sigcode=0

goroutine 1 gp=0x1 m=nil [chan send]:
main.main()
\t/srv/main.go:90 +0x154

goroutine 6 gp=0x2 m=nil [sync.Mutex.Lock]:
main.seen(0x1)
\t/srv/main.go:31 +0x1a
created by main.main in goroutine 1
\t/srv/main.go:52 +0xa
""",
        31,
    ),
    "a JVM, among other threads": (
        "java",
        """Full thread dump OpenJDK 64-Bit Server VM (17.0.17+10 mixed mode, sharing):

"pool-1-thread-1" #12 prio=5 os_prio=0 cpu=0.5ms tid=0x1 nid=0x2 waiting on condition  [0x3]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.17/Native Method)
\tat Main.other(Main.java:5)

"main" #1 prio=5 os_prio=0 cpu=90.84ms elapsed=9.50s tid=0x1 nid=0x2 waiting on condition  [0x3]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.17/Native Method)
\t- parking to wait for  <0x1> (a java.util.concurrent.Semaphore$NonfairSync)
\tat java.util.concurrent.Semaphore.acquire(java.base@17.0.17/Semaphore.java:318)
\tat Main.run(Main.java:11)
\tat Main.main(Main.java:16)

"Reference Handler" #2 daemon prio=10 os_prio=0 cpu=0.16ms tid=0x1 nid=0x2 waiting on condition  [0x3]
   java.lang.Thread.State: RUNNABLE
\tat Main.third(Main.java:3)
""",
        11,
    ),
    "somewhere in a runtime": ("python", "Traceback (most recent call last):\nKeyboardInterrupt\n", None),
    "nothing": ("ruby", "", None),
}


@pytest.mark.parametrize("name", STANDING)
def test_where_a_program_stood_when_it_was_asked(name: str) -> None:
    language, answer, expected = STANDING[name]
    forms = load_tracebacks()
    assert forms.asked_by(language)
    place = forms.standing_in(answer, ("/srv",), language)
    assert (place and place.line) == expected
