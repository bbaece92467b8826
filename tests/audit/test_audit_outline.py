"""Which part of which conversation a line is of, told by headers and ends alone."""

from __future__ import annotations

from multilang_cli.audit.outline import MOST_HOLES, REMEMBERED, Finder, Head, PartEnd, SeenLines, Size, outline

SIZES = [Size("b", 0, 10), Size("a", 900, 5), Size("a", 0, 20), Size("c", 0, 8)]


def head(file: str, nth: int, conv: str, part: int = 1, *, split: int = 0, started: float | None = 5.0) -> Head:
    return Head(file, split, nth, conv, part, started, "w", "h", "t", "bolt", 3)


def test_a_line_is_of_the_part_that_began_last_in_its_file() -> None:
    known = outline(SIZES, [head("a", 1, "x"), head("a", 2, "x", 2, split=900), head("a", 4, "y")], [])
    finder = Finder(known.pieces["a"])
    found = [finder.at(conv, line) for conv, line in (("x", 1), ("y", 4), ("x", 21), ("x", 22), ("x", 3))]
    assert [(piece.key, piece.part) for piece in found if piece] == [("x", 1), ("y", 1), ("x", 1), ("x", 2), ("x", 1)]
    assert finder.at("y", 3) is None
    assert finder.at("nobody", 9) is None
    assert known.lines == {"a": 25, "b": 10, "c": 8}
    assert known.before["a", 900] == 20


def test_a_header_that_was_shipped_twice_begins_no_second_copy() -> None:
    known = outline(SIZES, [head("a", 1, "x"), head("a", 2, "x"), head("a", 9, "x")], [PartEnd("a", 900, 5, "x", 7)])
    finder = Finder(known.pieces["a"])
    copy = "a second copy of part 1 of 'x'; the one that counts stands in a"
    assert [finder.at("x", line) for line in (1, 2, 3, 9, 10)] == [
        (1, "x", 1, "", False),
        (2, "x", 1, copy, False),
        (3, "x", 1, "", True),
        (9, "x", 1, copy, False),
        (10, "x", 1, "", True),
    ]
    assert known.told == {"a": (1, 1)}


def test_what_was_shipped_again_from_the_beginning_goes_on_where_it_was() -> None:
    heads = [head("a", 1, "x"), head("a", 5000, "x", split=900)]
    known = outline([Size("a", 0, 9000), Size("a", 900, 9000)], heads, [])
    assert [bool(piece.copy) for piece in known.pieces["a"]["x"]] == [False, True, False]


def test_no_task_knows_what_another_read_of_a_file_elsewhere() -> None:
    heads = [head("s3a://b/a", 1, "x"), head("s3a://b/a", 5000, "x", split=900)]
    known = outline([Size("s3a://b/a", 0, 9000), Size("s3a://b/a", 900, 9000)], heads, [])
    assert [bool(piece.copy) for piece in known.pieces["s3a://b/a"]["x"]] == [False, True]


def test_of_copies_the_longest_file_counts() -> None:
    ends = [PartEnd("b", 0, 10, "x", 7), PartEnd("a", 900, 5, "x", 7), PartEnd("c", 0, 8, "nobody", 7)]
    known = outline(SIZES, [head("b", 1, "x"), head("a", 1, "x"), head("c", 1, "x")], ends)
    assert [known.pieces[file]["x"][0].copy for file in "abc"] == [
        "",
        "a second copy of part 1 of 'x'; the one that counts stands in a",
        "a second copy of part 1 of 'x'; the one that counts stands in a",
    ]
    assert known.closed == {("x", 1): 7}
    assert known.told == {"a": (1, 1), "b": (0, 0), "c": (0, 0)}


def test_recordings_of_one_id_are_numbered_as_they_began() -> None:
    # As texts, 1.7676E9 would come behind 1.76760001E9.
    later = 1_767_600_010.0
    heads = [
        head("b", 1, "x", started=later),
        head("a", 1, "x", started=1_767_600_000.0),
        head("c", 1, "x", 2, started=later),
    ]
    known = outline(SIZES, heads, [PartEnd("c", 0, 8, "x", 7)])
    assert {file: known.pieces[file]["x"][0][1:3] for file in "abc"} == {
        "a": ("x", 1),
        "b": ("x#2", 1),
        "c": ("x#2", 2),
    }
    assert known.closed == {("x#2", 2): 7}


def test_a_line_that_stands_twice_is_found_among_those_before_it() -> None:
    seen = SeenLines()
    assert [seen.before("x", seq, b"%d" % seq, 10 + seq) for seq in (0, 2, 1, 3)] == [0, 0, 0, 0]
    assert [seen.before("x", seq, b"%d" % seq, 20) for seq in (2, 1)] == [12, 11]
    # Another line with the same number, and the same number of another conversation.
    assert seen.before("x", 2, b"other", 21) == -12
    assert seen.before("y", 2, b"2", 22) == 0
    for seq in range(4, REMEMBERED + 4):
        assert seen.before("x", seq, b"%d" % seq, seq) == 0
    assert seen.before("x", 5, b"5", 1) == 5
    # That was long ago: it can't be compared, and yet it is no new one.
    assert seen.before("x", 5, b"5", 1) == 5
    for seq in range(REMEMBERED + 4, 3 * REMEMBERED):
        seen.before("x", seq, b"%d" % seq, seq)
    assert seen.before("x", 5, b"5", 1) is None


def test_a_line_that_comes_long_after_its_place_is_no_second_copy() -> None:
    seen = SeenLines()
    numbers = [seq for seq in range(3 * REMEMBERED) if seq % 100 or seq >= 100 * MOST_HOLES]
    for start in range(0, len(numbers), 512):
        some = numbers[start : start + 512]
        assert seen.take_all("x", some, [b"%d" % seq for seq in some], start)
    assert [seen.before("x", seq, b"%d" % seq, 9) for seq in (0, 100, 100 * MOST_HOLES - 100)] == [0, 0, 0]
    assert [seen.before("x", seq, b"%d" % seq, 9) for seq in (1, 99, 101)] == [None, None, None]


def test_of_many_holes_the_first_ones_are_taken_for_one() -> None:
    seen = SeenLines()
    numbers = range(0, 2 * (MOST_HOLES + 2 * REMEMBERED), 2)
    for start in range(0, len(numbers), 512):
        some = list(numbers[start : start + 512])
        assert seen.take_all("x", some, [b"%d" % seq for seq in some], start)
    assert seen.before("x", 1, b"1", 9) == 0
    # Nobody knows any more whether this one was there: it is taken, for it may be new.
    assert seen.before("x", 2, b"2", 9) == 0
