"""A script that only starts a component stands for what it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.source.sources import lines_of, source_of
from multilang_cli.subject.source.wrapper import started_command

if TYPE_CHECKING:
    from pathlib import Path

WRAPPERS = {
    "exec": '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec ruby "$here/lib/bolt.rb"\n',
    "own folder": '#!/usr/bin/env bash\nset -e\ncd "$(dirname "$0")"\nexec ruby lib/bolt.rb "$@"\n',
    "braces": '#!/bin/bash\nDIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nruby -W0 "${DIR}/lib/bolt.rb" "$@"\n',
    "one line": '#!/bin/sh\ncd "$(dirname "$0")" && exec ruby lib/bolt.rb 2>>bolt.log\n',
    "a filter of lines": "#!/bin/sh\nruby lib/bolt.rb | grep --line-buffered -v '^banner'\n",
    "a log beside": "#!/bin/sh\nruby lib/bolt.rb | tee bolt.log\n",
    "variables": '#!/bin/sh\nexec env RUBYOPT=-W0 ruby \\\n  "${0%/*}/lib/bolt.rb"\n\n# the end\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "bolt.rb").write_text("emit('x')\n")
    return tmp_path


@pytest.mark.parametrize("script", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("argv", [["./run"], ["bash", "run"], ["sh", "-e", "./run", "7"]], ids=" ".join)
def test_a_wrapper_stands_for_what_it_starts(folder: Path, script: str, argv: list[str]) -> None:
    (folder / "run").write_text(script)
    source = source_of(argv, folder, "bolt")
    assert (source.language, source.programs) == ("ruby", (str((folder / "lib/bolt.rb").resolve()),))
    assert "lib/bolt.rb" in lines_of(source) or "bolt.rb" in lines_of(source)


def test_a_class_path_below_the_wrapper_is_found(folder: Path) -> None:
    (folder / "classes").mkdir()
    (folder / "Bolt.java").write_text("class Bolt {}\n")
    (folder / "run.sh").write_text('#!/bin/sh\nexec java -Xmx64m -cp "$(dirname "$0")/classes" Bolt\n')
    source = source_of([f"{folder.name}/run.sh"], folder.parent, "bolt")
    assert (source.language, source.programs) == ("java", (str((folder / "Bolt.java").resolve()),))


def test_wrappers_of_wrappers_are_followed_and_circles_end(folder: Path) -> None:
    (folder / "run").write_text('#!/bin/sh\nexec "$(dirname "$0")/start.sh"\n')
    (folder / "start.sh").write_text('#!/bin/sh\nexec ruby "$(dirname "$0")/lib/bolt.rb"\n')
    assert started_command(["./run"], folder) == ["ruby", str(folder.resolve() / "lib/bolt.rb")]
    (folder / "start.sh").write_text('#!/bin/sh\nexec "$(dirname "$0")/run"\n')
    assert started_command(["./run"], folder)


OWN = {
    "a bolt in shell": ["bolt.sh", "#!/bin/bash\nwhile read -r line; do\n  echo lib/bolt.rb\ndone\n"],
    "not beside": ["run.sh", "#!/bin/sh\nexec ruby /opt/other/bolt.rb\n"],
    "no shell": ["run.rb", "#!/usr/bin/ruby\nexec 'lib/bolt.rb'\n"],
    "a version manager's shim": ["ruby", '#!/bin/bash\nset -e\nexec "/bin/sh" exec "$program" "$@"\n'],
    "a filter that holds back": ["run.sh", "#!/bin/sh\nruby lib/bolt.rb | grep -v '^banner'\n"],
    "half a quote": ["run.sh", '#!/bin/sh\nexec ruby "lib/bolt.rb\n'],
}


@pytest.mark.parametrize(("name", "script"), OWN.values(), ids=OWN)
def test_other_commands_stand_for_themselves(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(script)
    assert started_command([f"./{name}"], folder) == [f"./{name}"]
    assert started_command(["python3", "-m", "bolt"], folder) == ["python3", "-m", "bolt"]
