"""The language of a program, and the sources of it that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.source.lines import source_lines
from multilang_cli.subject.source.sources import lines_of, origin_in, source_of, suspect_in, user_lines_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("suffix", "language"), [(".c", "c"), (".cpp", "cpp")])
def test_a_program_without_a_mark_is_of_the_source_beside_it(tmp_path: Path, suffix: str, language: str) -> None:
    (tmp_path / "bolt").write_bytes(b"\x7fELF")
    assert source_of(["./bolt"], tmp_path, "bolt").language == ""
    source = tmp_path / f"bolt{suffix}"
    source.write_text("int main(void) { return 0; }\n")
    found = source_of(["./bolt"], tmp_path, "bolt")
    assert (found.language, found.programs) == (language, (str(source.resolve()),))


def test_a_binary_has_no_lines_and_a_source_all_of_its_own(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(1000)]
    (tmp_path / "bolt.py").write_text("\n".join(lines))
    (tmp_path / "bolt").write_bytes(b"\x7fELF\n\x02\0" + "\n".join(lines).encode())
    assert source_lines(tmp_path / "bolt.py") == lines
    assert source_lines(tmp_path / "bolt") == []


def test_classes_of_one_package_know_each_other(tmp_path: Path) -> None:
    writes = 'class {} {{ void sync() {{ send("command"); }} }}'
    for name, text in (("Main", "class Main { Wire wire; }"), ("Wire", writes), ("Old", writes)):
        (tmp_path / f"{name}.java").write_text(text.format(name) if text is writes else text)
    source = source_of(["java", "-cp", ".", "Main"], tmp_path, "spout")
    place = suspect_in(source, "command")
    assert place is not None
    assert place.file == "Wire.java"


def test_the_sources_of_a_program_are_those_that_cargo_lists(tmp_path: Path) -> None:
    built = tmp_path / "target" / "debug"
    built.mkdir(parents=True)
    (tmp_path / "src dir").mkdir()
    (built / "bolt").write_bytes(b"\x7fELF /rustc/1234/library")
    names = [tmp_path / "src dir" / name for name in ("bolt.rs", "words.rs", "spout.rs")]
    for name in names:
        name.write_text("fn main() {}\n")
    listed = " ".join(str(name).replace(" ", "\\ ") for name in (*names[:2], tmp_path / "build.rs"))
    (built / "bolt.d").write_text(f"{built / 'bolt'}: {listed}\n")
    found = source_of(["target/debug/bolt"], tmp_path, "bolt")
    assert (found.language, found.programs) == ("rust", tuple(str(name.resolve()) for name in names[:2]))
    assert set(lines_of(found)) == {"src dir/bolt.rs", "src dir/words.rs"}


@pytest.mark.parametrize("words", [("count.words",), ("runner.run", "count.words.Words", "--flag", "{}")])
def test_a_module_that_python_runs_is_the_program(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "count").mkdir()
    for name in ("words.py", "lines.py"):
        (tmp_path / "count" / name).write_text("class Words: pass\n")
    found = source_of(["python3", "-m", *words], tmp_path, "bolt")
    assert found.programs == (str((tmp_path / "count" / "words.py").resolve()),)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("-cp", ".", "Count"), "Count.java"),
        (("-Xmx1g", "-classpath", "lib/a.jar:classes", "words.Count"), "classes/words/Count.java"),
        (("words.Count",), "src/main/java/words/Count.java"),
        (("-cp", "classes", "words.CountKt"), "src/main/kotlin/words/Count.kt"),
        (("-cp", "classes", "words.Count"), "src/main/scala/words/Count.scala"),
        (("-cp", "src:lib/*", "clojure.main", "-m", "words.count"), "src/words/count.clj"),
    ],
)
def test_a_class_that_java_runs_is_the_program(words: tuple[str, ...], file: str, tmp_path: Path) -> None:
    for name in (file, "Other.java"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("class Some {}\n")
    assert source_of(["java", *words], tmp_path, "bolt").programs == (str((tmp_path / file).resolve()),)


def test_a_name_as_long_as_names_may_be_has_no_source_beside_it(tmp_path: Path) -> None:
    program = tmp_path / ("b" * 254)
    program.write_bytes(b"\x7fELF")
    assert source_of([f"./{program.name}"], tmp_path, "bolt").language == ""


def test_a_script_without_a_suffix_is_known_by_its_shebang_and_runs_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/usr/bin/env python3\nimport sys\n")
    (tmp_path / "bolts").mkdir()
    count = tmp_path / "bolts" / "count.py"
    count.write_text("class Count:\n")
    found = source_of(["./run", "bolts.count.Count"], tmp_path, "bolt")
    assert found.language == "python"
    assert found.programs == (str(count),)


def test_what_a_script_of_the_shell_sources_is_its_own(tmp_path: Path) -> None:
    script = tmp_path / "words"
    script.write_text(
        '#!/bin/bash\nset -u\n. "$(dirname "$0")/storm.sh"\n\nwhile receive; do\n    answer "$id"\ndone\n'
    )
    script.chmod(0o755)
    (tmp_path / "storm.sh").write_text("read line\n")
    (tmp_path / "other.sh").write_text("read other\n")
    assert lines_of(source_of(["./words"], tmp_path, "bolt")).keys() == {"words", "storm.sh"}


def test_what_a_helper_loads_is_of_the_program_too(tmp_path: Path) -> None:
    for name, text in {
        "bolt.rb": "require_relative 'lib/wire'\n",
        "lib/wire.rb": "require_relative 'settings'\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "lib" / "settings.rb").write_text("puts\n")
    (tmp_path / "other.rb").write_text("puts\n")
    found = user_lines_of(source_of(["ruby", "bolt.rb"], tmp_path, "bolt"))
    assert found.keys() == {"bolt.rb", "lib/wire.rb", "lib/settings.rb"}


def test_the_sources_of_a_compiled_program_may_stand_in_src(tmp_path: Path) -> None:
    (tmp_path / "meter").write_bytes(b"\x7fELF /rustc/1234/library")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("mod json;\nfn main() {}\n")
    (tmp_path / "src" / "json.rs").write_text("pub fn read() {}\n")
    found = source_of(["./meter"], tmp_path, "spout")
    assert found.programs == (str(tmp_path / "src" / "main.rs"),)
    assert set(user_lines_of(found)) == {"src/main.rs", "src/json.rs"}


def test_a_text_comes_from_the_line_that_has_most_of_it(tmp_path: Path) -> None:
    (tmp_path / "sensors.rb").write_text("require 'settings'\nlevels = settings['sensors.count']\n")
    (tmp_path / "settings.rb").write_text('log "sensors.count is not set, taking #{default}"\n')
    source = source_of(["ruby", "sensors.rb"], tmp_path, "spout")
    found = origin_in(source, "sensors.count is not set, taking 25")
    assert found is not None
    assert (found.file, found.line) == ("settings.rb", 1)


@pytest.mark.parametrize(
    ("program", "text", "helper", "other"),
    [
        ("words.py", "import storm, wire\n", "wire.py", "storm.py"),
        ("words.rb", "require_relative 'wire'\nrequire_relative 'storm'\n", "wire.rb", "storm.rb"),
        ("main.go", "func main() {\n", "wire.go", "storm.go"),
    ],
)
def test_a_helper_beside_a_program_is_of_its_authors_and_a_copied_adapter_is_not(
    tmp_path: Path, program: str, text: str, helper: str, other: str
) -> None:
    for name, lines in {program: text, helper: "read\n", other: "read\n"}.items():
        (tmp_path / name).write_text(lines)
    argv = {"py": ["python3", program], "rb": ["ruby", program], "go": ["go", "run", program]}[program[-2:]]
    assert user_lines_of(source_of(argv, tmp_path, "bolt")).keys() == {program, helper}


@pytest.mark.parametrize(("name", "seen"), [("", {"testee.py"}), ("ack-twice", {"testee.py", "mutants.py"})])
def test_bugs_that_a_testee_can_be_given_are_read_while_it_has_one(
    tmp_path: Path, name: str, seen: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLCHECK_MUTANT", name)
    for file, text in {"testee.py": "import mutants\n", "mutants.py": "ack\n"}.items():
        (tmp_path / file).write_text(text)
    assert user_lines_of(source_of(["python3", "testee.py"], tmp_path, "bolt")).keys() == seen


def test_the_folder_of_a_compiled_program_is_one_in_which_its_sources_stand(tmp_path: Path) -> None:
    folder = tmp_path / "bolts"
    folder.mkdir()
    (folder / "count").write_bytes(b"\x7fELF /rustc/1234/library")
    (folder / "count.rs").write_text("fn main() {}\n")
    found = source_of(["bolts/count"], tmp_path, "bolt")
    assert found.roots == (str(tmp_path.resolve()), str(folder.resolve()))
    assert set(lines_of(found)) == {"bolts/count.rs"}


@pytest.mark.parametrize(
    ("first", "argv", "language"),
    [
        ("#!/usr/bin/env tclsh", ["./tag"], "tcl"),
        ("#!/usr/bin/env php\n<?php", ["./tag"], "php"),
        ("# no first line", ["ruby", "tag"], "ruby"),
    ],
)
def test_a_script_without_a_suffix_is_read(tmp_path: Path, first: str, argv: list[str], language: str) -> None:
    (tmp_path / "tag").write_text(f"{first}\nwrong here\n")
    source = source_of(argv, tmp_path, "bolt")
    assert source.language == language
    place = suspect_in(source, "wrong")
    assert place is not None
    assert (place.file, place.code) == ("tag", "wrong here")
