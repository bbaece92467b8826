from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.markdown import MOST_BYTES, code, fenced, prose, to_markdown
from multilang_cli.reports.model import RunResult, SubjectResult
from tests.reports.test_reports import same_as_snapshot
from tests.reports.test_reports_combined import BOTH
from tests.reports.test_reports_github import hostile
from tests.results import GREEN, HOSTILE, RESULTS, RULEBOOK, TWICE, result

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
FOLD = re.compile(
    r"<details( open)?><summary><b>[A-Z]+</b> <code>[^<>]*</code>( and \d+ more)?(: <code>[^<>]*</code>)?</summary>\n"
    r"|</details>\n"
)
REFERENCE = re.compile(r"@\w|#\w")
MARKUP = {
    "link_open",
    "image",
    "em_open",
    "s_open",
    "html_inline",
    "blockquote_open",
    "ordered_list_open",
    "hr",
    "hardbreak",
}


def shape_of(text: str) -> list[str]:
    """The kinds of everything in a Markdown text; asserts that there is no markup but ours and no reference."""
    kinds = []
    for token in PARSER.parse(text):
        kinds.append(token.type)
        for child in token.children or []:
            kinds.append(child.type)
            assert child.type != "text" or not REFERENCE.search(child.content), child.content
        if token.type == "html_block":
            assert FOLD.fullmatch(token.content), token.content
    assert not MARKUP & set(kinds)
    return kinds


@pytest.mark.parametrize("name", ["fail", "hostile", "pass", "silent"])
def test_a_page(name: str) -> None:
    text = to_markdown(RESULTS[name], RULEBOOK)
    same_as_snapshot(f"markdown-{name}", text)
    shape_of(text)


def test_the_verdict_comes_first_and_each_component_has_a_row() -> None:
    text = to_markdown(BOTH, RULEBOOK)
    assert text.startswith("## FAIL: 5 passed, 1 failed, 1 warning, 1 not tested")
    assert "| `counter` | PASS | 2 | 0 | 0 | 0 |\n| `splitter` | FAIL | 3 | 1 | 1 | 1 |\n" in text
    assert shape_of(text).count("table_open") == 1


HOSTILE_TEXTS = [
    "```\n</details>\n# big\n```",
    "`` ` ``` a ```` ~~~",
    "`",
    "<script>alert(1)</script><!-- </code></summary></details>",
    "[a](http://evil) ![i](http://evil/x.png) http://evil www.evil.org a@b.org",
    "@somebody #123 owner/repo#1 GH-1 !1 &lt; &amp;",
    "| a | b |\n|---|---|\n| \\| | \\",
    "- *a* _b_ **c** ~~d~~\n1. x\n> y\n\n---\n===",
    "1) a",
    "12. a",
    "+ a",
    "    indented",
    "\\`a\\`",
    "\u202e\u2028\x85\r\x1b[0m",
]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_component_can_not_make_markup(text: str) -> None:
    check_harmless(text)


@pytest.mark.long
@settings(max_examples=30)
@given(st.lists(st.sampled_from([*HOSTILE_TEXTS, *"`*_<>[]()!#@|\\~\n\r-+=:/&;$ a1."])).map("".join))
def test_no_text_of_a_component_is_markup(text: str) -> None:
    check_harmless(text)


def check_harmless(text: str) -> None:
    run = hostile(f"x{text}x")
    plain = [
        kind
        for kind in shape_of(to_markdown(combine([hostile("x"), hostile("x")]), RULEBOOK))
        if kind != "text_special"
    ]
    shape_of(to_markdown(hostile(text), RULEBOOK))
    found = shape_of(to_markdown(combine([run, run]), RULEBOOK))
    blocks = {"table_open", "html_block", "fence", "heading_open", "bullet_list_open", "list_item_open", "td_open"}
    assert [kind for kind in found if kind in blocks] == [kind for kind in plain if kind in blocks]


@given(st.text(st.sampled_from("`ab \\|<")))
def test_code_shows_a_text_as_it_is(text: str) -> None:
    (inline,) = [token for token in PARSER.parse(f"a {code(text)} b") if token.type == "inline"]
    spans = [child.content for child in inline.children or [] if child.type == "code_inline"]
    assert spans == ([text] if text.strip() else spans)
    (block,) = PARSER.parse(fenced(text))
    assert block.content.rstrip("\n") == text


@pytest.mark.parametrize("text", ["a *b* [c](d)", "1. a_b_c", "- x", "a\\b `c`", "1 < 2 & 3", "it's e.g. (so); x: y"])
def test_prose_reads_as_it_was_written(text: str) -> None:
    (inline,) = [token for token in PARSER.parse(prose(text)) if token.type == "inline"]
    assert "".join(child.content for child in inline.children or []) == text


def many(count: int) -> RunResult:
    line = msgspec.structs.replace(HOSTILE.excerpt[0], text="世" * 5000)
    subjects = [
        SubjectResult(id=f"c.{n}", title="t", verdict="fail", reason=f"{n}" + "界" * 3000, excerpt=(line,) * 8)
        for n in range(count)
    ]
    return result(*subjects)


@pytest.mark.long
def test_a_page_that_grows_too_large_is_cut_and_says_so() -> None:
    text = to_markdown(many(110), RULEBOOK)
    assert 0.9 * MOST_BYTES < len(text.encode()) <= MOST_BYTES
    shown = text.count("<details")
    assert 0 < shown < 110
    assert text.endswith(
        f"**Cut here:** {110 - shown} more sections do not fit; they are in the other formats of the report.\n"
    )
    assert "Cut here" not in to_markdown(result(*GREEN, TWICE), RULEBOOK)
