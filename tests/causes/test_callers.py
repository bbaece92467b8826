"""Where all messages are written by a helper, the line to look at is the one that calls it."""

from __future__ import annotations

import re

import pytest

from multilang_cli.catalogue.loader import load_causes
from multilang_cli.causes.callers import caller_of, callers_of, handler_named
from multilang_cli.causes.model import Place

JAVASCRIPT = """class Bolt {
  ack(tuple) {
    this.send({ command: 'ack', id: tuple.id });
  }
  handle(message) {
    if (message.stream === '__tick') {
      this.ack(message);
    } else {
      this.process(message);
      if (this.autoAck) this.ack(message);
    }
  }
  process(tuple) {
    // this.ack(tuple) comes last
    this.ack(tuple);
  }
}
"""
GO = """func emit(stream string, values ...interface{}) {
\tm := map[string]interface{}{"command": "emit", "tuple": values}
\tsend(m)
}

func process(t *Tuple) {
\tif ok {
\t\temit("", t.ID)
\t} else if bad {
\t\temit("errors", t.ID)
\t} else {
\t\temit("late", t.ID)
\t}
}
"""
PYTHON = """def emit(values, anchor):
    send({"command": "emit", "anchors": [anchor],
          "tuple": values})

def process(tup):
    if tup.id:
        emit(tup.values, tup.id)
"""
LUA = """function Storm:emit(anchor, ...)
  self:write {
    command = "emit",
    tuple = { ... },
  }
end
storm:emit(t, word, translate(word))
"""
RUBY = """def ack(id)
  send_msg(command: 'ack', id: id)
end
loop do
  ack msg['id']
end
"""
NO_HELPER = """while True:
    tup = read()
    send({"command": "ack", "id": tup["id"]})
"""
DELIVERS = """def next_tuple
  deliver(values + [attempt])
end
def deliver(values)
  write('command' => 'emit', 'tuple' => values)
end
"""
PROCESS = """def process(tup):
    send({"command": "ack", "id": tup["id"]})

process(read())
"""
SHELL = """sync() {
  transmit '{"command":"sync"}'
}
done_with() {
  if (( ${#open[@]} == 0 )); then
    sync
  fi
}
while receive; do
  case $command in ack) done_with ;; esac
  sync
done
rsync -a sync/ there
"""
PERL = """sub sync { $_[0]->put({ command => 'sync' }) }
sub next_tuple {
    my $self = shift;
    return $self->sync unless $self->{rows};
    $self->{sync} = 1;
}
"""
SELF = """def sync
  put(command: 'sync')
end
def next_tuple
  self.sync
end
"""
CALLED = {
    "a method of Perl": (PERL, 1, "sync", "perl", "", [4]),
    "a method of its own in Ruby": (SELF, 2, "sync", "ruby", "", [5]),
    "two, without the one that acks ticks": (JAVASCRIPT, 3, "ack", "javascript", "", [10, 15]),
    "the one that names the stream": (GO, 2, "emit", "go", "errors", [10]),
    "more than are told": (GO, 2, "emit", "go", "", []),
    "a call of several lines": (PYTHON, 2, "emit", "python", "", [7]),
    "a method of Lua": (LUA, 3, "emit", "lua", "", [7]),
    "a call without parentheses": (RUBY, 2, "ack", "ruby", "", [5]),
    "a command without arguments": (SHELL, 2, "sync", "shell", "", [6, 11]),
    "a helper that delivers": (DELIVERS, 5, "emit", "ruby", "", [2]),
    "a line in no function": (NO_HELPER, 3, "ack", "python", "", []),
    "a function that is no helper": (PROCESS, 2, "ack", "python", "", []),
}


@pytest.mark.parametrize("name", CALLED)
def test_who_calls_a_helper_is_told(name: str) -> None:
    source, line, command, language, stream, expected = CALLED[name]
    found = callers_of(Place("bolt", line), command, {"bolt": source.splitlines()}, language, stream)
    assert [place.line for place in found] == expected


LIBRARY = """class Bolt
  def emit(values, anchors)
    send_msg(command: 'emit', tuple: values, anchors: anchors)
  end
  def emit_bolt(values) = emit(values, [])
end
"""


def test_a_helper_in_a_file_beside_it_is_called_by_its_users_own() -> None:
    own = {"geo": ["require 'library'", "class Geo < Bolt", "  def process(tup)", "    emit(place, [tup])", "  end"]}
    helper = Place("library.rb", 3)
    found = callers_of(helper, "emit", own, "ruby", beside={**own, "library.rb": LIBRARY.splitlines()})
    assert found == [Place("geo", 4, "emit(place, [tup])")]
    assert callers_of(helper, "emit", own, "ruby") == []


SYNCS = """func (s *Rows) next() error {
\treturn s.conn.Sync()
}
func (s *Rows) ack(id string) error {
\treturn s.conn.Sync()
}
func (s *Rows) onFail(id string) error {
\tif err := s.next(); err != nil {
\t\treturn err
\t}
\treturn s.conn.Sync()
}
"""


@pytest.mark.parametrize(("within", "expected"), [("", []), ("fail", [11]), ("ack", [5]), ("activate", [])])
def test_of_many_callers_those_of_the_command_are_told(within: str, expected: list[int]) -> None:
    library = ["func (c *Conn) Sync() error {", '\treturn c.send(map[string]string{"command": "sync"})', "}"]
    sources = {"rows.go": SYNCS.splitlines()}
    found = callers_of(Place("conn.go", 2), "sync", sources, "go", beside={"conn.go": library}, within=within)
    assert [place.line for place in found] == expected


CHOICES = """while True:
    m = read()
    if m["command"] == "next":
        feed()
        sync()
    elif m["command"] == "ack":
        if m["id"] in pending:
            sync()
    elif m["command"] == "fail": sync()
    else:
        sync()
    sync()
def sync():
    send({"command": "sync"})
"""


@pytest.mark.parametrize(
    ("within", "expected"), [("", []), ("next", [5, 12]), ("ack", [8, 12]), ("fail", [9, 12]), ("activate", [])]
)
def test_of_many_callers_those_in_the_branch_of_the_command_are_told(within: str, expected: list[int]) -> None:
    found = callers_of(Place("bolt.py", 14), "sync", {"bolt.py": CHOICES.splitlines()}, "python", within=within)
    assert [place.line for place in found] == expected


ENCODES = """def send(message):
    text = json.dumps(message)
def emit(values, anchor):
    send({"command": "emit", "tuple": values})
def track(tup):
    emit([tup.word.encode()], tup.id)
track(read())
"""


@pytest.mark.parametrize(
    ("frames", "caller"), [((2, 4, 6, 7), 6), ((6, 7), 7), ((4, 6, 7), 6), ((2, 4), None), ((7,), None)]
)
def test_what_a_helper_can_not_write_was_made_where_it_is_called(frames: tuple[int, ...], caller: int | None) -> None:
    found = caller_of([Place("bolt.py", line) for line in frames], {"bolt.py": ENCODES.splitlines()})
    assert (found and found.line) == caller


SUSPECTED = {
    "an emit that asks for ids in Tcl": ("dies-of-task-ids", "tcl", "send command [text emit] \\\n tuple $x", True),
    "an emit that asks for none": (
        "dies-of-task-ids",
        "python",
        'send({"command": "emit",\n  "need_task_ids": False})',
        False,
    ),
    "an exit amid the work in Perl": ("exits-mid-work", "perl", "    exit 0 if $done;", True),
    "the end of what is read in Perl": ("exits-mid-work", "perl", "my $setup = $self->receive or exit 0;", False),
    "an exit amid the work in Ruby": ("exits-mid-work", "ruby", "    exit if seen > 3", True),
    "the end of what is read in Ruby": ("exits-mid-work", "ruby", "  line = $stdin.gets or exit", False),
    "an exit amid the work in JavaScript": ("exits-mid-work", "javascript", "  process.exit(0);", True),
    "the end of stdin in JavaScript": ("exits-mid-work", "javascript", "stdin.on('end', () => process.exit(0))", False),
    "an exit amid the work in a shell": ("exits-mid-work", "shell", "  grep -q x || exit 0", True),
    "the end of what is read in a shell": ("exits-mid-work", "shell", "  read -r line || exit 0", False),
    "an end with a blank in awk": ("end-with-blanks", "awk", 'print "end "', True),
    "an end that is right in awk": ("end-with-blanks", "awk", 'print "end"', False),
    "an end with a blank in a longer text": ("end-with-blanks", "python", r'write(text + "\nend \n")', True),
    "an end that is right in a longer text": ("end-with-blanks", "python", r'write(text + "\nend\n")', False),
    "a misspelt heartbeat": ("heartbeat-not-answered", "perl", "my $HEARTBEAT = '_heartbeat';", True),
    "an exit on a condition": ("ends-at-a-command", "ruby", "    exit if id.nil?", True),
    "messages joined before an end": (
        "messages-share-an-end",
        "ruby",
        r'$stdout.write("#{@outgoing.join("\n")}\nend\n")',
        True,
    ),
    "messages joined with their ends": ("messages-share-an-end", "python", r'write("\nend\n" % m)', False),
    "a call that reads ids": ("waits-for-unasked-ids", "python", "    return self.read_task_ids()", True),
    "a function that reads ids": ("waits-for-unasked-ids", "python", "    def read_task_ids(self):", False),
    "a call that reads ids in Ruby": ("waits-for-unasked-ids", "ruby", "    read_task_ids", True),
    "a method that reads ids in Ruby": ("waits-for-unasked-ids", "ruby", "  def read_task_ids", False),
    "a call that awaits ids": ("waits-for-unasked-ids", "javascript", "    const ids = await this.nextIds();", True),
    "a method that awaits ids": ("waits-for-unasked-ids", "javascript", "  async nextIds() {", False),
    "an anchor that is put in a list": ("anchors-nested", "javascript", "send({ tuple, anchors: [anchor] });", True),
    "anchors in Perl": ("anchors-nested", "perl", "anchors => [$anchor],", True),
    "an anchor of a tuple": ("anchors-nested", "ruby", "anchors: [tup['id']]", False),
    "a comment behind what drops a tuple": (
        "forgets-tuples",
        "go",
        "\tif seen[key] {\n\t\tcontinue // nothing new",
        True,
    ),
    "the same in Ruby": ("forgets-tuples", "ruby", "  if seen[key]\n    next # nothing new", True),
    "an exception that is logged": ("forgets-tuples", "python", "except Error:\n    log.error('no')\nreturn", True),
    "one whose tuple is failed": ("forgets-tuples", "python", "except E:\n    log.error('no')\n    fail(t)", False),
    "a pipe of Tcl without an encoding": ("writes-no-utf-8", "tcl", "fconfigure stdout -buffering none", True),
    "one with it": ("writes-no-utf-8", "tcl", "fconfigure stdout -encoding utf-8", False),
    "a list of anchors": ("anchors-nested", "python", '"anchors": anchors', False),
}


@pytest.mark.parametrize("name", SUSPECTED)
def test_a_pattern_finds_the_line(name: str) -> None:
    cause, language, line, found = SUSPECTED[name]
    known = next(each for each in load_causes() if each.id == cause)
    assert any(re.search(pattern, line) for pattern in known.suspects[language]) == found


HANDLERS = {
    "spout.lua": ("function on.ack(id)\n  if not id then return end\n  sync()\nend\n", 1),
    "Spout.java": ("class S {\n    public void onAck(String id) {\n        sync();\n    }\n}\n", 2),
    "of one line.lua": ("function on.ack() sync() end\n", None),
    "two.py": (
        "class A:\n    def ack(self, id):\n        pass\n\nclass B:\n    def ack(self, id):\n        pass\n",
        None,
    ),
    "sends.py": ("def send_ack(id):\n    write(id)\n", None),
}


@pytest.mark.parametrize("file", HANDLERS)
def test_the_function_that_has_the_name_of_a_command_is_found(file: str) -> None:
    source, line = HANDLERS[file]
    lines = source.splitlines()
    found = handler_named("ack", {file: lines})
    assert found == (Place(file, line, lines[line - 1].strip()) if line else None)
