"""The line to look at stands in the component's own source: no adapter's, and no other program's."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.facts import Source
from multilang_cli.causes.model import Cause, Place
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.source.sources import lines_of, source_of, starter_of, suspect_in, with_build_folders
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.suite.verdict.lines import with_code
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

HEARTBEAT = "    return self.stream == '__heartbeat'\n"
MAIN = "package main\n\nfunc main() {\n}\n"


@pytest.mark.parametrize(("beside", "place"), [("storm.py", None), ("tuples.py", "tuples.py:1")])
def test_an_adapter_is_nobodys_own(beside: str, place: str | None, tmp_path: Path) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(f"import {beside.removesuffix('.py')}\n")
    (tmp_path / beside).write_text(HEARTBEAT)
    source = Source(kind="bolt", language="python", roots=(str(tmp_path),), programs=(str(program),))
    found = suspect_in(source, "__heartbeat")
    assert (found and f"{found.file}:{found.line}") == place


def test_what_only_an_adapter_does_stands_in_the_adapter(tmp_path: Path) -> None:
    program = tmp_path / "upper.pl"
    program.write_text("use Storm;\n")
    (tmp_path / "Storm.pm").write_text('package Storm;\n$self->send_msg({ pid => "$pid" });\n')
    source = source_of(["./upper.pl"], tmp_path, "bolt")
    found = {
        cause.id: place
        for cause in load_causes()
        for pattern in cause.suspects.get(source.language, ())
        if (place := suspect_in(source, pattern, in_adapter=cause.in_adapter))
    }
    code = '$self->send_msg({ pid => "$pid" });'
    assert found == {"pid-unfit": Place("Storm.pm", 2, code, " " * code.index("pid") + "^")}


C_MAIN = "int main(void)\n{\n}\n"
BUILT = {
    "of C": (b"\x7fELF", {"echo.c": C_MAIN, "buffer.c": "int used;\n"}, "c", {"echo.c"}),
    "of Go": (b"\xff Go buildinf:", {"main_bolt.go": MAIN, "words.go": "package main\n"}, "go", {"main_bolt.go"}),
    "of one of two": (b"\x7fELF", {"echo.c": C_MAIN, "split.c": C_MAIN}, "", set()),
    "of C or C++": (b"\x7fELF", {"echo.c": C_MAIN, "split.cpp": C_MAIN}, "", set()),
    "a script": (b"#!/bin/sh\n", {"echo.c": C_MAIN}, "shell", {"bolt"}),
}


@pytest.mark.parametrize("name", BUILT)
def test_a_compiled_program_is_of_the_only_main_beside_it(name: str, tmp_path: Path) -> None:
    code, sources, language, programs = BUILT[name]
    (tmp_path / "bolt").write_bytes(code)
    for file, text in sources.items():
        (tmp_path / file).write_text(text)
    source = source_of(["./bolt"], tmp_path, "bolt")
    assert (source.language, {path.rpartition("/")[2] for path in source.programs}) == (language, programs)


@pytest.mark.parametrize(("folders", "files"), [(("a",), {"a/main.go"}), (("a", "b"), set())])
def test_of_several_programs_that_were_built_none_is_chosen(
    folders: tuple[str, ...], files: set[str], tmp_path: Path
) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "main.go").write_text(MAIN)
    assert lines_of(Source(kind="bolt", language="go", roots=(str(tmp_path),))).keys() == files


def test_a_program_in_a_folder_of_its_own_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "bolts").mkdir()
    program = tmp_path / "bolts" / "bolt.py"
    program.write_text("def process(tup):\n")
    roots = (str(tmp_path), str(tmp_path / "bolts"))
    source = Source(kind="bolt", language="python", roots=roots, programs=(str(program),))
    assert suspect_in(source, "def process") == Place("bolts/bolt.py", 1, "def process(tup):")


def test_a_line_that_the_file_does_not_have_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "bolt.coffee").write_text("send 1\nsend 2\n")
    cause = Cause(id="dies", certainty="certain", headline="it dies", place=Place("bolt.coffee", 62))
    assert with_code(cause, [str(tmp_path)]).place is None
    told = with_code(msgspec.structs.replace(cause, place=Place("bolt.coffee", 2)), [str(tmp_path)]).place
    assert told is not None
    assert told.code == "send 2"


def test_a_shebang_is_no_comment(tmp_path: Path) -> None:
    program = tmp_path / "bolt.py"
    program.write_text("#!/usr/bin/env python2\n# python2\n")
    source = Source(kind="bolt", language="python", roots=(str(tmp_path),), programs=(str(program),))
    found = suspect_in(source, "python2")
    assert found is not None
    assert found.line == 1


BUFFERED = f"""{PID}
hello = shake()
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
print("a bolt that says where it stands"); sys.stdout.flush()
while True:
    message(); out.write('{{"command":"sync"}}\\nend\\n')
"""
NO_LINES = """
Unhandled Exception:
System.FormatException: Input string was not in a correct format.
  at System.Decimal.Parse (System.String s) [0x0001a] in <12b418a7818c4ca0893feeaaf67f1e7f>:0
  at Prices.Program.Round (System.String id, System.Object price) [0x0000c] in <d53d4d7842e14d61>:0
  at Prices.Program.Main () [0x000dc] in <d53d4d7842e14d61>:0
"""
ROUND = """class Program
{
    static void Main() { Round(id, price); }

    static decimal Round(string id, object price)
    {
        return Round(id, price);
    }
}
"""


def test_a_frame_without_a_line_tells_its_method(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "prices.exe").write_bytes(b"MZ")
        (tmp_path / folder / "Program.cs").write_text(ROUND)
    source = source_of(["mono", "b/prices.exe"], tmp_path, "bolt")
    patterns = load_tracebacks().methods_in(NO_LINES, source.language)
    found = [suspect_in(source, pattern) for pattern in patterns]
    assert [each and f"{each.file}:{each.line}" for each in found] == ["b/Program.cs:5", "b/Program.cs:3"]
    assert load_tracebacks().methods_in(NO_LINES, "python") == []


def test_what_was_built_elsewhere_has_its_lines_here(tmp_path: Path) -> None:
    program = tmp_path / "bolt.go"
    program.write_text(MAIN)
    source = Source(kind="bolt", language="go", roots=(str(tmp_path),), programs=(str(program),))
    panic = (
        "panic: no\n\ngoroutine 1 [running]:\nmain.words(...)\n\t/build/src/words.go:2 +0x1\n"
        "main.main()\n\t/build/src/bolt.go:3 +0x1\nmain.other()\n\t/elsewhere/other.go:9 +0x1\n"
    )
    death = load_tracebacks().death_in(panic, with_build_folders(source, panic).roots, "go")
    assert death is not None
    assert (death.place, death.callers) == (Place("words.go", 2), (Place("bolt.go", 3),))
    interpreted = msgspec.structs.replace(source, language="python")
    assert with_build_folders(interpreted, panic) == interpreted


@pytest.mark.component
def test_a_line_whose_words_came_on_stderr_is_none_that_writes_to_stdout(tmp_path: Path) -> None:
    bolt = tmp_path / "bolt.py"
    bolt.write_text(BUFFERED)
    component = Component(command=(sys.executable, "-I", "-S", str(bolt)), kind="bolt")
    options = RunOptions(record=str(tmp_path / "kept"), include=("bolt.heartbeat.idle",), timeout=3.0)
    [subject] = run_suite(component, options).subjects
    assert [(cause.id, cause.suspect) for cause in subject.causes] == [("output-held-back", None)]


HELPER = """import json, os, sys
def read():
    lines = []
    for line in sys.stdin:
        if line == "end\\n":
            return json.loads("".join(lines))
        lines.append(line)
    os._exit(0)
def send(message):
    print(json.dumps(message) + "\\nend", flush=True)
def emit({parameter}):
    send({{"command": "emit", "anchors": [tup["id"]], "tuple": {values}, "need_task_ids": False}})
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({{"pid": os.getpid()}})
while tup := read():
    if tup["stream"] == "__heartbeat":
        send({{"command": "sync"}})
    else:
        emit({argument})
        send({{"command": "ack", "id": tup["id"]}})
"""


@pytest.mark.component
@pytest.mark.parametrize(
    ("parameter", "values", "argument", "line"),
    [
        ("word", '[word, {"of": word}]', "tup['tuple'][0]", 12),
        ("values", "values", "[{'of': tup['tuple'][0]}]", 19),
        ("*values", "[*values]", "{'of': tup['tuple'][0]}", 19),
    ],
    ids=["made-there", "handed-on", "unpacked"],
)
def test_a_value_is_made_by_the_line_that_makes_the_list_of_them(
    parameter: str, values: str, argument: str, line: int, tmp_path: Path
) -> None:
    bolt = tmp_path / "bolt.py"
    bolt.write_text(HELPER.format(parameter=parameter, values=values, argument=argument))
    component = Component(command=(sys.executable, "-I", "-S", str(bolt)), kind="bolt", samples=(["a b"],))
    options = RunOptions(record=str(tmp_path / "kept"), include=("bolt.settle.once",))
    [subject] = [each for each in run_suite(component, options).subjects if each.causes]
    assert [(cause.id, cause.suspect and cause.suspect.line) for cause in subject.causes] == [("nested-value", line)]


SETTLES = HELPER.replace("def emit({parameter}):", "def settle(how, id):").replace(
    '"command": "emit", "anchors": [tup["id"]], "tuple": {values}, "need_task_ids": False', '"command": how, "id": id'
)


@pytest.mark.component
@pytest.mark.parametrize(
    ("last", "line"),
    [
        ('settle("fail", tup["id"])', 20),
        ("settle('fail', tup['id'])  # late", 20),
        ('globals()["settle"]("fail", tup["id"])', None),
    ],
    ids=["said", "commented", "looked-up"],
)
def test_a_helper_that_is_given_the_command_is_called_where_it_is_named(
    last: str, line: int | None, tmp_path: Path
) -> None:
    bolt = tmp_path / "bolt.py"
    source = SETTLES.replace("emit({argument})", 'settle("ack", tup["id"])')
    source = source.replace('send({{"command": "ack", "id": tup["id"]}})', last).format()
    bolt.write_text(source)
    component = Component(command=(sys.executable, "-I", "-S", str(bolt)), kind="bolt", samples=(["a b"],))
    options = RunOptions(record=str(tmp_path / "kept"), include=("bolt.settle.once",))
    [subject] = [each for each in run_suite(component, options).subjects if each.causes]
    assert [cause.suspect and cause.suspect.line for cause in subject.causes] == [line]


FALLS = (
    "switch (m.command) {{\n  case 'next':\n    feed();\n    sync();\n    break;\n"
    "  case 'ack':\n    forget(m.id);\n    sync();\n{}  case 'fail':\n    sync();\n    break;\n}}\n"
)
SHOWN = {
    "falls.js": ("javascript", "one-sync-too-many", FALLS.format(""), 6),
    "falls.java": ("java", "one-sync-too-many", FALLS.format("    log(m);\n"), 6),
    "batch.py": (
        "python",
        "forgets-tuples",
        "if len(self.batch) >= self.size:\n    return self.flush()\ntry:\n    serve()\nexcept EOFError:\n    pass\n",
        0,
    ),
    "breaks.js": ("javascript", "one-sync-too-many", FALLS.format("    break;\n"), 0),
    "leaves.js": ("javascript", "one-sync-too-many", FALLS.format("    return;\n"), 0),
    "convert.js": (
        "javascript",
        "forgets-tuples",
        "  if (busy) return;\n  ask();\n\nmain().catch((e) => {\n  console.error(e);\n});\n",
        1,
    ),
    "uncaught.js": (
        "javascript",
        "forgets-tuples",
        "if (!rows[key]) {\n  continue;\n}\nprocess.on('uncaughtException', (e) => log(e));\n",
        4,
    ),
    "marks.py": ("python", "end-with-blanks", "if line == 'end':\n    break\nwrite(text + '\\n【end】\\n')\n", 3),
    "tweets.py": ("python", "waits-in-a-socket", "sock.bind(here)\nwhile True:\n    data = sock.recv(1024)\n", 3),
    "timer.js": ("javascript", "kept-alive-by-its-loop", "run();\nsetInterval(purge, 1000);\n", 2),
    "Threshold.java": (
        "java",
        "waits-for-ids",
        "private List<Object> readTaskIds() {\n}\nvoid emit() {\n  routes.addAll(readTaskIds());\n}\n",
        4,
    ),
    "two.js": (
        "javascript",
        "settles-twice",
        (
            "pool.run(job).then(done);\ntry { return job(); } finally {\n  running--;\n}\n"
            "try {\n  work();\n} finally {\n  out({ command: 'ack', id: m.id });\n}\n"
        ),
        7,
    ),
    "Two.java": (
        "java",
        "settles-twice",
        "try {\n  work();\n} finally {\n  lock.unlock();\n}\ntry {\n  work();\n} finally {\n  send(ack(id));\n}\n",
        8,
    ),
    "two.rb": (
        "ruby",
        "settles-twice",
        "begin\n  work\nensure\n  file.close\nend\nbegin\n  work\nensure\n  put(command: 'ack', id: id)\nend\n",
        8,
    ),
    "two.tcl": (
        "tcl",
        "settles-twice",
        "try {\n  work\n} finally {\n  close $file\n}\ntry {\n  work\n} finally {\n  storm::ack $id\n}\n",
        8,
    ),
    "titles.pl": ("perl", "writes-no-utf-8", "use JSON::PP ();\nmy $json = JSON::PP->new->allow_nonref;\n", 2),
    "bytes.pl": ("perl", "writes-no-utf-8", "use JSON::PP ();\nmy $json = JSON::PP->new->utf8;\n", 0),
    "feed.js": (
        "javascript",
        "syncs-too-early",
        "async nextTuple() {\n}\nswitch (m.command) {\n  case 'next': this.nextTuple(); break;\n}\n",
        4,
    ),
    "scan.c": ("c", "id-cut", "  char path[1024], id[20], stream[64];\n  copy(id, sizeof id);\n", 1),
    "shout.rb": (
        "ruby",
        "quotes-by-its-language",
        "emit(id: m['id'].inspect, values: values.inspect)\nack(id: m['id'].inspect)\n",
        1,
    ),
    "scale.cpp": (
        "cpp",
        "writes-interleaved",
        'static void send(const std::string& json) {\n  put(json);\n  put("\\nend\\n");\n}\n',
        2,
    ),
    "once.cpp": ("cpp", "writes-interleaved", '  prepare(json);\n  put(json + "\\nend\\n");\n', 0),
    "dedupe.js": (
        "javascript",
        "ids-not-unique",
        "const newId = () => Date.now().toString(36);\nsend({ id: x });\n",
        1,
    ),
    "fresh.js": ("javascript", "ids-not-unique", "send({ id: x });\nfunction newId() {\n  return Date.now();\n}\n", 2),
    "fresh.py": ("python", "ids-not-unique", "def next_id():\n    return str(time.time())\nid = next_id()\n", 1),
    "fresh.rb": ("ruby", "ids-not-unique", "emit(id: new_id)\ndef new_id\n  Time.now.to_i.to_s\nend\n", 2),
    "fresh.php": (
        "php",
        "ids-not-unique",
        "<?php\n['id' => x];\nfunction newId(): string\n{\n  return (string) time();\n}\n",
        3,
    ),
    "fresh.go": ("go", "ids-not-unique", 'm["id"]: x\nfunc newID() string {\n\treturn time.Now().String()\n}\n', 2),
    "groups.go": ("go", "tuple-overwritten", "s.work <- s.ids\ns.rows = nil\ns.ids = s.ids[:0]\n", 3),
    "guard.cpp": (
        "cpp",
        "settles-unknown",
        "Guard(Guard&&) = delete;\nHold(Hold&& from) noexcept\n    : id_(std::move(from.id_)) {}\n~Hold() {}\n",
        2,
    ),
    "lookups.js": (
        "javascript",
        "drops-equal-tuples",
        "if (waits.has(k)) {\n  waits.get(k).push(m);\n  return;\n}\n",
        1,
    ),
    "domains.pl": ("perl", "id-not-a-string", "id => 0 + $m->{id},\nemit(id => $t->{id});\n", 1),
    "domains.py": ("python", "id-not-a-string", 'self.id = int(message["id"])\nsend({"id": self.id})\n', 1),
    "domains.js": ("javascript", "id-not-a-string", "send({ id: key });\nconst key = Number(m.id);\n", 2),
    "domains.rb": ("ruby", "id-not-a-string", "send('id' => key)\nkey = m['id'].to_i\n", 2),
    "grams.lua": ("lua", "takes-next-for-ids", "send(emit)\nlocal tasks = recv()\n", 2),
    "visits.rb": ("ruby", "list-emptied-too-soon", "@batch.reset\ndone.each { |id| ack(id) }\n", 1),
    "metrics.rs": ("rust", "thread-died", 'out.settle("fail", &t.id);\nreturn;\n', 1),
    "nouns.rb": ("ruby", "tuple-overwritten", "while (message = read)\n  pool.post { ack(message['id']) }\nend\n", 1),
    "storm.js": ("javascript", "tuple-overwritten", "this.tuple = null;\nthis.tuple = msg;\nack(this.tuple.id);\n", 2),
    "prices.py": ("python", "zipped-short", "for tup, price in zip(batch, prices):\n    ack(tup)\n", 1),
    "words.tcl": ("tcl", "text-as-list", "set n 0\nforeach word [lindex [dict get $m tuple] 0] { incr n }\n", 2),
    "counted.rb": ("ruby", "ids-not-unique", "def new_id\n  @number += 1\nend\nemit(id: new_id)\n", 4),
    "fmt.c": ("c", "text-as-format", 'printf("%d", n);\nprintf(m);\nprintf("\\nend\\n");\n', 2),
    "trim.pl": ("perl", "text-as-format", 'printf "%s", $m;\nprintf "$m\\nend\\n" }\n', 2),
    "tell.go": ("go", "text-as-format", 'fmt.Printf("%s", b)\nfmt.Printf(text + "\\nend\\n")\n', 2),
    "say.awk": ("awk", "text-as-format", 'printf "%s", m\nprintf m "\\nend\\n"\n', 2),
    "children.pl": (
        "perl",
        "read-beside-select",
        "while (my $line = <$b>) {\n}\nfor my $fh ($sel->can_read) {\n    my $line = <$fh>;\n",
        4,
    ),
    "pages.js": ("javascript", "syncs-too-early", "const work = items.map(async (n) => load(n));\n", 0),
    "Clicks.java": ("java", "syncs-too-early", "timer.scheduleAtFixedRate(poller, 20, 20, MILLISECONDS);\n", 1),
    "keywords.php": (
        "php",
        "tuple-is-an-object",
        "<?php\n$words = array_filter($words, 'long');\nreturn array_diff($words, STOP);\n",
        3,
    ),
    "cached.java": (
        "java",
        "anchors-too-late",
        "if (known != null) {\n  ack(id);\n  emit(id, known);\n  return;\n}\nemit(id, grade);\nack(id);\n",
        2,
    ),
    "either.js": ("javascript", "anchors-too-late", "if (old) {\n  ack(id);\n} else {\n  emit(id, x);\n}\n", 0),
    "cached.go": ("go", "anchors-too-late", "if ok {\n\tc.Ack(t)\n\tc.Emit(t, known)\n\treturn\n}\nc.Ack(t)\n}\n", 2),
    "ticks.go": (
        "go",
        "heartbeat-not-answered",
        'switch {\ncase m.Task < 0:\n\tflush()\ncase m.Stream == "__heartbeat":\n\tsync()\n}\n',
        2,
    ),
    "replay.rs": (
        "rust",
        "waits-for-ids",
        "fn task_ids(&mut self) -> Ids {\n}\nself.emit(id)?;\nlet tasks = self.task_ids()?;\n",
        4,
    ),
    "emit.sh": (
        "shell",
        "child-reads-stdin",
        'jq -r .id <<<"$MSG"\nx=$(jq -cn 1)\nprintf %s "$y" | jq .\nout=$(jq -c --arg id "$1" \'[$id]\')\n',
        4,
    ),
    "tickets.py": (
        "python",
        "exits-mid-work",
        "while True:\n    step()\nwhile self.todo or self.pending:\n    msg = self.read()\n",
        3,
    ),
    "sized.go": ("go", "output-held-back", "out := bufio.NewWriterSize(os.Stdout, 64<<10)\n", 1),
    "closed.php": (
        "php",
        "tuple-is-an-object",
        "<?php\n$rows = array_filter($rows);\n$more = array_diff($more);\nreturn array_values(array_filter($words));\n",
        0,
    ),
}


@pytest.mark.parametrize("file", SHOWN)
def test_the_line_that_brings_it_about_is_shown(file: str, tmp_path: Path) -> None:
    language, problem, text, line = SHOWN[file]
    (tmp_path / file).write_text(text)
    source = Source(kind="bolt", language=language, roots=(str(tmp_path),), programs=(str(tmp_path / file),))
    cause = next(each for each in load_causes() if each.id == problem)
    found = [suspect_in(source, pattern) for pattern in cause.suspects.get(language, ())]
    assert next((place.line for place in found if place), 0) == line


ROLLS = """import subprocess
def name(n):
    {how} "segment-%04d.jsonl" % n
def roll(n):
    subprocess.check_call(["tar", "-cvf", name(n)])
"""


@pytest.mark.parametrize(("how", "line"), [("return", 5), ("named =", 5), ("print(", None)])
def test_who_only_names_what_a_program_prints_did_not_print_it(how: str, line: int | None, tmp_path: Path) -> None:
    program = tmp_path / "spout.py"
    program.write_text(ROLLS.format(how=how))
    source = Source(kind="spout", language="python", roots=(str(tmp_path),), programs=(str(program),))
    found = starter_of(source, "segment-0001.jsonl", load_tracebacks().starts("python"))
    assert (found and found.line) == line
