"""Facts, texts, tables, plots, graphs and steps, used with mouse and keys."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser import documents

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser

ROWS = "tr[data-table-row]"
TALK = documents.conversation()


def column(browser: Browser, number: int) -> list[str]:
    return browser.texts(f"{ROWS} > td:nth-child({number})")


def test_facts_and_texts_are_there_word_for_word(browser: Browser) -> None:
    browser.open(documents.page(documents.FACTS, documents.TEXT))
    assert dict(zip(browser.texts("dt"), browser.texts("dd"), strict=True)) == dict(documents.FACTS["rows"])
    assert browser.text(".text pre") == documents.TEXT["code"]


@pytest.mark.parametrize(
    ("head", "ascending"),
    [
        (
            "case",
            [
                "bolt.ack.once",
                "bolt.emit.task-ids",
                "bolt.handshake.pid",
                "bolt.heartbeat.behind-backlog",
                "bolt.log.levels",
                "bolt.ticks",
            ],
        ),
        ("ms", ["9", "12.5", "31", "110", "1.2 s", ""]),
    ],
)
def test_a_table_is_sorted_by_its_heads(browser: Browser, head: str, ascending: list[str]) -> None:
    browser.open(documents.page(documents.TABLE))
    number = 1 if head == "case" else 3
    as_given = column(browser, number)
    filled = [cell for cell in ascending if cell]
    descending = [*reversed(filled), *ascending[len(filled) :]]
    for wanted, said in ((ascending, "ascending"), (descending, "descending"), (as_given, "none")):
        browser.click_on(f"th:nth-child({number}) button")
        browser.until_equal(lambda: column(browser, number), wanted)
        assert browser.one(f"th:nth-child({number})").get_attribute("aria-sort") == said


def test_a_table_is_filtered(browser: Browser) -> None:
    browser.open(documents.page(documents.TABLE))
    browser.type("input", "WARN")
    browser.until_equal(lambda: column(browser, 1), ["bolt.emit.task-ids", "bolt.log.levels"])
    assert browser.text(".table-tools [role=status]") == "2 of 6 rows"
    browser.type("input", "none of them")
    browser.until(lambda: "No rows." in browser.text(".table"))


def cells(browser: Browser) -> list[str]:
    return browser.texts("tr[data-matrix-row] > th")


def test_a_matrix_is_filtered_by_words_and_by_trouble(browser: Browser) -> None:
    browser.open(documents.page(documents.MATRIX))
    assert browser.texts("tr[data-matrix-row] td") == ["pass", "", "-", "", "pass", "FAIL"]
    browser.type("input[type=search]", "settles once")
    browser.until_equal(lambda: cells(browser), ["bolt.settle.once"])
    browser.type("input[type=search]", "bolt")
    browser.click_on("input[type=checkbox]")
    browser.until(lambda: "No rows." in browser.text(".matrix"))
    browser.type("input[type=search]", "s")
    browser.until_equal(lambda: cells(browser), ["spout.sync.activate"])


def test_a_matrix_leads_to_pages_of_its_own_folder_only(browser: Browser) -> None:
    matrix = deepcopy(documents.MATRIX)
    (_, rows), _ = matrix["groups"]
    for page in (
        "javascript:alert(1)//.html",
        "https://example.org/x.html",
        "//x/y.html",
        "../up.html",
        "a/../b.html",
        7,
    ):
        rows.append({"name": f"hostile {page}", "cells": [{"text": "FAIL", "tone": "bad", "file": page}, None]})
    browser.open(documents.page(matrix))
    assert len(cells(browser)) == 9
    links = browser.js("[...document.querySelectorAll('.matrix a')].map((a) => a.getAttribute('href'))")
    assert links == ["cells/storm_js/spout.html"]


def test_a_cell_leads_to_its_event(browser: Browser) -> None:
    browser.open(documents.page(documents.TABLE, TALK))
    browser.click("warn", f"{ROWS}:last-child")
    browser.until_equal(browser.chosen, 16)
    assert browser.js("location.hash") == "#talk/16"


def test_of_many_rows_only_those_in_view_stand_in_the_dom(browser: Browser) -> None:
    rows = [[f"case {number}", number * 7919 % 10_000] for number in range(10_000)]
    browser.open(documents.page({**documents.TABLE, "columns": documents.TABLE["columns"][::2], "rows": rows}))
    browser.until(lambda: browser.all(ROWS))
    assert len(browser.all(ROWS)) < 100
    browser.click_on("th:nth-child(2) button")
    browser.until_equal(lambda: column(browser, 2)[:3], ["0", "1", "2"])
    browser.js("(document.querySelector('.many').scrollTop = 1e9)")
    browser.until_equal(lambda: column(browser, 2)[-1], "9999")
    assert len(browser.all(ROWS)) < 100
    browser.type("input", "case 1234")
    browser.until_equal(lambda: column(browser, 1), ["case 1234"])


def test_a_click_on_a_point_leads_to_its_event(browser: Browser) -> None:
    """A point is where its numbers say: uPlot knows; the mouse is then sent there."""
    single = deepcopy(documents.PLOT)
    single["series"] = [
        {
            "name": "ack",
            "style": "points",
            "x": [0, 1, 1, 2],
            "y": [0, 4, 2, 4],
            "to": [None, "talk/8", "talk/13", None],
        }
    ]
    browser.open(documents.page(single, TALK))
    browser.until(lambda: browser.all(".u-over"))
    over = browser.one(".u-over")
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    size = over.size
    # x runs from 0 to 2.08 and y from 0 to 4.16: the point (1, 2) lies at these parts of width and height.
    across, up = 1 / 2.08, 2 / 4.16
    point = ActionChains(browser.driver).move_to_element_with_offset(
        over, round((across - 0.5) * size["width"]), round((0.5 - up) * size["height"])
    )
    point.perform()
    browser.until(lambda: browser.text(".plot-at") == "ack: 2 ms at 1 s · click the mark to see the event")
    point.click().perform()
    browser.until_equal(lambda: browser.js("location.hash"), "#talk/13")


def test_a_plot_is_a_table_as_well(browser: Browser) -> None:
    browser.open(documents.page(documents.PLOT, TALK))
    browser.until(lambda: browser.all("canvas"))
    browser.click("The numbers")
    browser.until_equal(lambda: len(browser.all(ROWS)), 8)
    assert browser.texts(f"{ROWS}:nth-child(3) td") == ["ack", "2", "5"]
    browser.click("ack", f"{ROWS}:nth-child(3)")
    browser.until_equal(browser.chosen, 8)


@pytest.mark.parametrize("style", ["points", "line", "steps", "bars"])
@pytest.mark.parametrize("log", [False, True])
def test_every_style_draws_something_in_its_colour(browser: Browser, style: str, log: bool) -> None:
    plot = deepcopy(documents.PLOT)
    plot["y"]["log"], plot["bands"] = log, []
    plot["series"] = [{"name": "one", "style": style, "x": [3, 1, 2, 2], "y": [4, 5, None, 70]}]
    browser.open(documents.page(plot))
    browser.until(lambda: browser.all("canvas"))
    blue = """(() => { const c = document.querySelector('canvas'); let n = 0;
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4) if (d[i] < 80 && d[i + 2] > 150 && d[i + 3] > 200) n++; return n; })()"""
    browser.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert browser.js(blue) > 20


def test_eight_series_have_eight_colours(browser: Browser) -> None:
    plot = deepcopy(documents.PLOT)
    plot["series"] = [{"name": f"s{n}", "style": "points", "x": [1, 2], "y": [n, n]} for n in range(8)]
    for scheme in ("light", "dark"):
        browser.show_as(scheme=scheme)
        browser.open(documents.page(plot))
        browser.until(lambda: browser.all("canvas"))
        marks = "[...document.querySelectorAll('.u-legend .u-marker')].map((mark) => mark.getAttribute('style'))"
        drawn = [mark for mark in browser.js(marks) if mark]
        assert (len(drawn), len(set(drawn))) == (8, 8)


@pytest.mark.parametrize("along", ["x", "y"])
def test_a_band_goes_across_or_from_top_to_bottom(browser: Browser, along: str) -> None:
    plot = deepcopy(documents.PLOT)
    plot["bands"] = [{"from": 2, "to": 3, "label": "", "tone": "bad", "along": along}]
    del plot["series"][1:]
    browser.open(documents.page(plot))
    browser.until(lambda: browser.all("canvas"))
    faint = """(() => { const c = document.querySelector('canvas'), r = devicePixelRatio, xs = [], ys = [];
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 20 && d[i + 3] < 40 && d[i] > d[i + 1] + 40) {
          xs.push((i / 4) % c.width); ys.push(Math.floor(i / 4 / c.width)); }
        const span = (v) => (v.reduce((a, b) => Math.max(a, b), 0) - v.reduce((a, b) => Math.min(a, b), 1e9)) / r;
        return [span(xs), span(ys)]; })()"""
    browser.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    wide, high = browser.js(faint)
    assert (high > 150 and wide < 400) if along == "x" else (wide > 400 and high < 60)


def test_a_plot_without_points_says_so(browser: Browser) -> None:
    browser.open(documents.page({**documents.PLOT, "series": []}))
    assert "No points." in browser.text(".section")


def graph(**more: Any) -> documents.Json:
    return {"id": "topology", "type": "graph", "title": "Topology", **documents.GRAPH, "direction": "LR", **more}


def test_a_graph_shows_nodes_edges_and_what_is_chosen(browser: Browser) -> None:
    browser.open(documents.page(graph(), TALK))
    browser.until(lambda: browser.all("[data-node]"))
    assert browser.texts("[data-node] text") == ["tuple 1 of src", "snow", "white"]
    assert browser.texts(".edge text") == ["emit", "emit"]
    assert browser.one("[data-node=a]").rect["y"] < browser.one("[data-node=b]").rect["y"], "as in the document"
    browser.js("document.querySelector('[data-node=a]').focus()")
    browser.press(Keys.ENTER)
    browser.until_equal(lambda: browser.text(".graph-detail"), "snow edge id 0x2 Show it")
    browser.click("Show it", ".graph-detail")
    browser.until_equal(browser.chosen, 4)
    browser.one("[data-node=b]").click()
    browser.until_equal(browser.chosen, 6)


def test_edges_of_nodes_that_are_not_there_and_circles_are_no_harm(browser: Browser) -> None:
    edges = [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}, {"from": "a", "to": "a"}, {"from": "a", "to": "gone"}]
    browser.open(documents.page(graph(edges=edges)))
    browser.until(lambda: browser.all("[data-node]"))
    assert len(browser.all(".edge")) == 3


def test_a_graph_too_large_for_a_picture_is_a_table_of_edges(browser: Browser) -> None:
    nodes = [{"id": f"n{number}", "label": f"node {number}"} for number in range(400)]
    edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(399)]
    browser.open(documents.page(graph(nodes=nodes, edges=edges)))
    assert "400 nodes and 399 edges are too many for a picture" in browser.text(".section")
    browser.until_equal(lambda: column(browser, 2)[:2], ["node 1", "node 2"])


def test_print_tells_how_much_is_shown_and_by_which_filter(browser: Browser) -> None:
    browser.open(documents.page(documents.TABLE, documents.MATRIX, documents.conversation()))
    browser.type(".filters [type=search]", "emit")
    browser.until(lambda: " of 20 events" in browser.text(".filters-count"))
    browser.click("only trouble")
    browser.show_as(media="print")
    printed = browser.js("document.body.innerText")
    assert " of 20 events" in printed
    assert "6 rows" in printed
    assert "only trouble" in printed
    fields = browser.all("[type=search]")
    assert [field.get_attribute("value") for field in fields if field.is_displayed()] == ["emit"]
    assert "only findings" not in printed
    assert not browser.one("nav").is_displayed()


def ack_val(browser: Browser) -> list[str]:
    return browser.texts(".ack-val td")


def test_a_tuple_tree_is_played_with_its_xor_written_out(browser: Browser) -> None:
    browser.open(documents.page(documents.STEPS, TALK))
    browser.until(lambda: browser.all("[data-node]"))
    assert ack_val(browser) == ["0000", "0100", "0100"]
    assert [node.get_attribute("data-node") for node in browser.all(".node.later")] == ["a", "b"]
    browser.click("Next step")
    browser.until_equal(lambda: ack_val(browser), ["0100", "0000", "0100"])
    assert [node.get_attribute("data-node") for node in browser.all(".node.later")] == ["b"]
    browser.one("input[type=range]").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    browser.until_equal(lambda: ack_val(browser), ["0100", "1011", "1111"])
    assert "settled" not in browser.text(".ack-val")
    browser.one("input[type=range]").send_keys(Keys.END)
    browser.until_equal(lambda: ack_val(browser), ["1001", "1001", "0000"])
    assert "Zero: every tuple of the tree is settled." in browser.text(".ack-val")
    assert not browser.button("Next step").is_enabled()
    browser.click("split acks tuple 1", ".step-list")
    browser.until_equal(lambda: browser.text(".step-list [aria-current]"), "split acks tuple 1show")
    browser.click("show", ".step-list [aria-current]")
    browser.until_equal(browser.chosen, 8)


def test_ack_vals_of_64_bits_are_hexadecimal_and_exact(browser: Browser) -> None:
    steps = deepcopy(documents.STEPS)
    steps["steps"] = [
        {"text": "one", "ack_val": "0xffffffffffffffff"},
        {"text": "two", "ack_val": "0x8000000000000001"},
    ]
    browser.open(documents.page(steps))
    browser.click("Next step")
    wanted = ["0xffffffffffffffff", "0x7ffffffffffffffe", "0x8000000000000001"]
    browser.until_equal(lambda: ack_val(browser), wanted)
