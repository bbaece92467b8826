"""A command that is not answered on one way out: the line that leaves before the sync is the one to look at."""

from __future__ import annotations

import re

import pytest

from multilang_cli.causes.callers import looks_for
from multilang_cli.causes.early_exits import default_exit, early_exit, end_in, keeping_exit, unflushed
from multilang_cli.causes.model import GivenBack, Place

GO = """func next() {
\tif len(queue) == 0 {
\t\ttime.Sleep(50 * time.Millisecond)
\t\treturn
\t}
\tsend(Emit{queue[0]})
\tsend(map[string]string{"command": "sync"})
}

func main() {
\tfor {
\t\tswitch read()["command"] {
\t\tcase "next":
\t\t\tnext()
\t\tcase "ack":
\t\t\tsend(map[string]string{"command": "sync"})
\t\t}
\t}
}
"""
PYTHON = """def next_tuple(queue):
    if not queue:
        return
    emit(queue.pop())
    send({"command": "sync"})

while True:
    command = read()["command"]
    if command == "next":
        next_tuple(queue)
    else:
        send({"command": "sync"})
"""
RUBY = """loop do
  case read['command']
  when 'next'
    next if queue.empty?
    emit(queue.shift)
    send_msg(command: 'sync')
  end
end
"""
C = """static void next_tuple(struct queue *q) {
    if (q->size == 0) return;
    emit(q);
    send_sync();
}

int main(void) {
    if (strcmp(command, "next") == 0) {
        next_tuple(&q);
    }
}
"""
JAVASCRIPT = """async function next() {
  const jobs = fs.readdirSync(folder);
  if (!jobs.length) { return; }
  emit(jobs[0]);
  sendSync();
}
on('next', () => next());
"""
AFTER_ALL = """    def dispatch(m)
      case m['command']
      when 'next' then next_tuple
      when 'fail'
        return unless failed(m['id'])
        log("#{m['id']} will be sent again", 1)
      when 'activate' then activate
      end
      Multilang.write('command' => 'sync')
    end
"""
AT_THE_TOP = """while (1) {
    my $msg = read_msg();
    if ($msg->{command} eq 'next') {
        next_tuple();
    }
    elsif ($msg->{command} eq 'fail') {
        if ($tries++ >= 3) {
            log_msg("giving up");
            next;
        }
    }
    send_msg({ command => 'sync' });
}
"""
TWO_ANSWERS = """def failed(id)
  order = @open.delete(id)
  return sync unless order

  if @tries[id] <= 3
    @again << order
    return
  end
  sync
end

def run
  case read['command']
  when 'fail' then failed(id)
  end
end
"""
FOUND = [
    ("orders.rb", TWO_ANSWERS, 14, 7),
    ("spout.pl", AT_THE_TOP, 6, 9),
    ("base.rb", AFTER_ALL, 4, 5),
    ("main.go", GO, 13, 4),
    ("spout.py", PYTHON, 9, 3),
    ("spout.rb", RUBY, 3, 4),
    ("spout.c", C, 8, 2),
    ("spout.js", JAVASCRIPT, 7, 3),
]


@pytest.mark.parametrize(("file", "source", "handler", "line"), FOUND, ids=lambda value: str(value)[:9])
def test_the_way_out_before_the_sync_is_found(file: str, source: str, handler: int, line: int) -> None:
    lines = source.splitlines()
    found = early_exit(Place(file, handler), "sync", {file: lines})
    assert found == Place(file, line, lines[line - 1].strip())


def test_a_branch_of_a_choice_is_surer_than_a_comparison() -> None:
    rust = [
        '    if name == "ack" || name == "fail" {',
        '        Some("ack") => ack(id),',
        '        Some("activate") => paused = false,',
    ]
    matched = {
        command: [
            [number for number, line in enumerate(rust) if re.search(pattern, line)] for pattern in looks_for(command)
        ]
        for command in ("ack", "activate")
    }
    assert matched == {"ack": [[1], [0]], "activate": [[2], []]}


UNTOLD = {
    "it answers before it leaves": PYTHON.replace(
        "        return", "        send({'command': 'sync'})\n        return"
    ),
    "nothing leaves": PYTHON.replace("        return", "        sleep(0.1)"),
    "whoever calls it answers": PYTHON.replace('    send({"command": "sync"})\n\nwhile', "\nwhile"),
    "two leave": PYTHON.replace("        return", "        return\n    if late:\n        return"),
    "what leaves is a comment": PYTHON.replace("        return", "        # return\n        sleep(0.1)"),
}


@pytest.mark.parametrize("source", UNTOLD.values(), ids=UNTOLD)
def test_none_is_told_where_it_is_not_certain(source: str) -> None:
    lines = source.splitlines()
    handler = next(number for number, line in enumerate(lines, 1) if '== "next"' in line)
    assert early_exit(Place("spout.py", handler), "sync", {"spout.py": lines}) is None


UNFLUSHED = """func serve() {
\tif m.Command == "ack" || m.Command == "fail" {
\t}
\tswitch m.Command {
\tcase "next":
\t\tnext()
\t\tout.Flush()
\tcase "ack":
\t\tdone(m.ID)
\t}
}

func done(id string) {
\tput(Sync{})
}

func put(message any) {
\tencoder.Encode(message)
}
"""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (UNFLUSHED, 14),
        (UNFLUSHED.replace("put(Sync{})", "put(Sync{})\n\tout.Flush()"), None),
        (UNFLUSHED.replace("Encode(message)", "Encode(message)\n\tout.Flush()"), None),
        (UNFLUSHED.replace("out.Flush()", "// out.Flush()"), None),
        (UNFLUSHED.replace("put(Sync{})", "put(Done{})"), None),
    ],
    ids=["one of two", "behind it", "where it is written", "nowhere", "no sync"],
)
def test_a_sync_is_unflushed_only_where_others_are_flushed(source: str, line: int | None) -> None:
    lines = source.splitlines()
    found = unflushed("ack", "sync", {"main.go": lines})
    assert found == (Place("main.go", line, lines[line - 1].strip()) if line else None)


OTHERWISE = {
    "main.pl": (
        """sub run {
    while (my $m = recv_msg()) {
        my $c = $m->{command};
        if    ($c eq 'next') { $self->next_tuple }
        elsif ($c eq 'fail') { $self->fail($m->{id}) }
        else                 { next }    # nothing else concerns a spout
        $self->sync;
    }
}
""",
        6,
    ),
    "main.py": (
        """def run():
    while True:
        command = read()["command"]
        if command == "next":
            next_tuple()
        elif command == "ack":
            ack()
        else:
            continue
        send({"command": "sync"})
""",
        9,
    ),
}


@pytest.mark.parametrize("file", OTHERWISE)
def test_a_command_without_a_branch_leaves_by_that_of_all_others(file: str) -> None:
    source, line = OTHERWISE[file]
    lines = source.splitlines()
    assert default_exit("sync", {file: lines}) == Place(file, line, lines[line - 1].strip())
    answered = [text.replace("next }", "$self->sync; next }").replace("continue", "pass") for text in lines]
    assert default_exit("sync", {file: answered}) is None


MUTE = """void run() {
    switch (command) {
    case "next":
        next();
        write("sync");
        break;
    case "ack":
        write("sync");
        break;
    default:
        break;
    }
}
"""


def test_the_branch_of_all_others_that_alone_has_no_answer_is_found() -> None:
    lines = MUTE.splitlines()
    assert default_exit("sync", {"Main.java": lines}) == Place("Main.java", 10, "default:")
    behind = [*lines[:-1], '    write("sync");', "}"]
    assert default_exit("sync", {"Main.java": behind}) is None
    alone = MUTE.replace('        next();\n        write("sync");\n', "").splitlines()
    assert default_exit("sync", {"Main.java": alone}) is None


LOCKS = {
    "left by a return": ("mu.Lock()\n    n := 1\n    if n < 2 {\n        return 0\n    }\n    mu.Unlock()", 5),
    "left before it is taken": ("if n < 2 {\n        return 0\n    }\n    mu.Lock()\n    mu.Unlock()", None),
    "given back on that way": (
        "mu.Lock()\n    if n < 2 {\n        mu.Unlock()\n        return 0\n    }\n    mu.Unlock()",
        None,
    ),
    "given back whatever comes": (
        "mu.Lock()\n    if n < 2 {\n        return 0\n    }\n    defer func() {\n        mu.Unlock()\n    }()",
        None,
    ),
    "a permit, taken elsewhere": ("if n < 2 {\n        return\n    }\n    slots.release()", 3),
}


@pytest.mark.parametrize("name", LOCKS)
def test_the_way_out_that_keeps_what_was_taken_is_found(name: str) -> None:
    body, line = LOCKS[name]
    lines = f"func hit(n int) int {{\n    {body}\n}}\n".splitlines()
    found = keeping_exit(GivenBack(taken=r"\b(?:r?lock|acquire)\b", back="r?unlock|release"), {"main.go": lines})
    assert found == (Place("main.go", line, lines[line - 1].strip()) if line else None)


def test_a_line_that_is_in_none_of_the_sources_leaves_nowhere() -> None:
    assert early_exit(Place("other.py", 3), "sync", {"spout.py": PYTHON.splitlines()}) is None


ENDS = {
    "perl": """while (1) {
    my $order = receive();
    exit 0 unless defined $order;
    if ($what eq 'next') {
        give();
    }
    elsif ($what eq 'deactivate') {
        last;
    }
    reply({ command => 'sync' });
}
""",
    "python": """while True:
    order = receive() or sys.exit(0)
    if order["command"] == "deactivate":
        close()
        break
    sync()
""",
    "several": """while (true) {
  if (order.command === 'deactivate') {
    if (done) process.exit(0);
    return;
  }
}
""",
}


@pytest.mark.parametrize(("name", "handler", "line"), [("perl", 7, 8), ("python", 3, 5), ("several", 2, 0)])
def test_the_line_that_ends_the_program_in_the_branch_of_a_command_is_found(name: str, handler: int, line: int) -> None:
    found = end_in(Place("spout", handler), {"spout": ENDS[name].splitlines()})
    assert (found.line if found else 0) == line


PHP_LOOP = """while (($msg = receive()) !== null) {
    switch ($msg['command']) {
        case 'next':
            if (count($pending) >= 20) {
                continue 2;
            }
            emit($outbox->take());
            break;
        case 'ack':
            unset($pending[$msg['id']]);
            break;
    }
    sync();
}
"""


@pytest.mark.parametrize(("leaves", "line"), [("continue 2;", 5), ("continue;", 5), ("break;", 0)])
def test_a_branch_of_a_loop_of_the_program_itself_is_left_before_the_sync(leaves: str, line: int) -> None:
    lines = PHP_LOOP.replace("continue 2;", leaves).splitlines()
    found = early_exit(Place("spout.php", 3), "sync", {"spout.php": lines})
    assert (found.line if found else 0) == line
