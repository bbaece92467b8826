"""The sequence diagram: choosing, jumping, threads, filters, messages, and a hundred thousand events."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import documents

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser

MANY = 100_000
MOST_ROWS = 200


def talk(browser: Browser, **more: Any) -> None:
    browser.open(documents.page({**documents.conversation(), **more}))
    browser.until(browser.seqs)


def row(seq: int) -> str:
    return f"[data-seq='{seq}']"


def test_events_stand_in_their_lanes_with_times(browser: Browser) -> None:
    talk(browser)
    assert browser.seqs() == list(range(20))
    assert browser.texts(".lane-name") == ["Storm", "component", "stderr", "process"]
    assert browser.texts(f"{row(3)} > span")[:3] == ["3", "0.143 s", "+2.0 ms"]
    for seq, lane in ((1, "in"), (2, "out"), (14, "err"), (18, "control"), (19, "process")):
        assert len(browser.all(f".row-{lane}{row(seq)}")) == 1


@pytest.mark.parametrize("width", [1000, 1280, 1920])
def test_the_names_of_the_lanes_stand_apart(browser: Browser, width: int) -> None:
    browser.show_as(width=width)
    talk(browser)
    places = browser.js(
        "[...document.querySelectorAll('.lane-name')].map((e) => e.getBoundingClientRect())"
        ".map((box) => [box.left, box.right])"
    )
    assert all(left - right >= 4 for (_, right), (left, _) in pairwise(places)), places


def test_a_click_opens_the_message_laid_out_with_all_digits(browser: Browser) -> None:
    talk(browser)
    browser.click_on(row(4))
    browser.until_equal(lambda: browser.text(".detail h3"), 'emit ["snow"] anchored to 1')
    laid_out = '{\n  "command": "emit",\n  "anchors": ["1"],\n  "tuple": ["snow", 9007199254740993]\n}'
    assert browser.text(".message pre") == laid_out
    browser.click("as it came", ".message")
    assert browser.text(".message pre").startswith('{"command": "emit", "anchors"')
    browser.click_on(row(14))
    browser.until_equal(lambda: browser.text(".message pre"), "WARN splitter: queue is long (12 waiting)\n")


@pytest.mark.parametrize("text", ['{"a":', "{'a': 1}", "end", "[" * 5000 + "]" * 5000, '{"a":1} trailing', "…cut"])
def test_what_is_no_json_is_shown_as_it_came(browser: Browser, text: str) -> None:
    case = documents.Talk()
    case.add(documents.OUT, "emit", "emit", text)
    browser.open(documents.page(case.section("talk", "One")), "#talk/0")
    browser.until_equal(lambda: browser.text(".message pre"), text)


@pytest.mark.parametrize("text", ['{"a":1,"a":{},"b":[]}', '"\\"[x, y]\\\\"', "-0.10E+2", "[[],[1,[2]],{}]", "null"])
def test_laying_out_changes_nothing_but_space(browser: Browser, text: str) -> None:
    case = documents.Talk()
    case.add(documents.OUT, "emit", "emit", text)
    browser.open(documents.page(case.section("talk", "One")), "#talk/0")
    browser.until(lambda: browser.all(".message pre"))
    assert browser.text(".message pre").replace("\n", "").replace(" ", "") == text.replace(" ", "")


def test_the_chosen_event_shows_its_thread_and_what_belongs_to_it(browser: Browser) -> None:
    talk(browser)
    assert [row.get_attribute("data-seq") for row in browser.all(".row.in-thread")] == ["9", "10", "11", "12", "13"]
    assert [row.get_attribute("data-seq") for row in browser.all(".row.related")] == ["8", "12"]
    browser.click("event 12", ".finding")
    browser.until_equal(browser.chosen, 12)
    browser.click("acks a tuple that is settled already at event 13", ".related-to")
    browser.until_equal(browser.chosen, 13)
    browser.click("earlier", ".thread-line")
    browser.until_equal(browser.chosen, 12)
    browser.click("later", ".thread-line")
    browser.until_equal(browser.chosen, 13)


def test_a_finding_is_explained_beside_its_message(browser: Browser) -> None:
    talk(browser)
    assert browser.text(f"{row(13)} .badge") == "mustacks a tuple that is settled already"
    card = browser.text(".finding")
    for field in ("rule", "title", "message", "clause", "source", "why", "mend"):
        assert documents.ACK_TWICE[field] in card
    assert browser.texts(".fate-versions") == ["0.7.1 to 0.9.2", "0.9.7 to 2.8.3"]
    assert browser.texts(".fates .pill") == ["survives", "dies"]
    assert browser.text(".fate-error") == "Acked a non-existent or already acked/failed id: 2"


def test_findings_are_a_key_or_a_click_apart(browser: Browser) -> None:
    talk(browser)
    for key, seq in (("n", 16), ("n", 13), ("p", 16), ("p", 13)):
        browser.press(key)
        browser.until_equal(browser.chosen, seq)
    browser.click("Next finding")
    browser.until_equal(browser.chosen, 16)
    assert browser.text(".stepper-count") == "2 of 2"
    browser.click("acks a tuple that is settled already", ".finding-bar")
    browser.until_equal(browser.chosen, 13)


TWICE = """
const done = arguments[0];
const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "n", bubbles: true}));
const chosen = () => Number(document.querySelector("[data-row].chosen").dataset.seq);
const drawn = new MutationObserver(() => {
  drawn.disconnect();
  press();
  setTimeout(() => requestAnimationFrame(() => done(chosen())), 200);
});
drawn.observe(document.querySelector(".rows"), {subtree: true, attributes: true});
press();
"""
"""Press a key, and the same again as soon as the first is drawn; the event that is chosen then."""


def test_a_key_starts_from_the_event_that_the_last_one_chose(browser: Browser) -> None:
    talk(browser)
    browser.press("n")
    browser.until_equal(browser.chosen, 16)
    assert browser.driver.execute_async_script(TWICE) == 16


def test_letters_in_the_filter_are_no_keys(browser: Browser) -> None:
    talk(browser)
    browser.type(".filters input[type=search]", "snow")
    browser.until_equal(browser.seqs, [3, 4])
    browser.one(".filters input[type=search]").send_keys("n")
    browser.until_equal(browser.seqs, [])
    assert browser.text(".detail h3") == "ack 2"


def test_arrows_move_the_choice(browser: Browser) -> None:
    talk(browser)
    browser.click_on(row(3))
    moves = ((Keys.ARROW_DOWN, 4), (Keys.ARROW_UP, 3), (Keys.HOME, 0), (Keys.END, 19), (Keys.PAGE_UP, 5))
    for key, seq in moves:
        browser.press(key)
        browser.until_equal(browser.chosen, seq)
    active = browser.one(".rows").get_attribute("aria-activedescendant")
    assert browser.js(f"document.getElementById({active!r}).dataset.seq") == "5"


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        ("", list(range(20))),
        ("SNOW", [3, 4]),
        ("9007199254740993", [4, 6, 10, 11]),
        ("[5]", [5, 7]),
        ("(12 waiting", [14]),
        (".*", []),
        ("heartbeat", [0, 15]),
    ],
)
def test_words_are_looked_for_in_heads_and_messages(browser: Browser, words: str, seqs: list[int]) -> None:
    talk(browser)
    browser.type(".filters input[type=search]", words)
    browser.until_equal(browser.seqs, seqs)
    count = "20 events" if len(seqs) == 20 else f"{len(seqs)} of 20 events"
    browser.until_equal(lambda: browser.text(".filters-count"), count)


def test_lanes_kinds_findings_and_threads_are_filters(browser: Browser) -> None:
    talk(browser)
    browser.click("to the component", ".filters")
    browser.until_equal(browser.seqs, [0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 16, 17, 18, 19])
    browser.click("process", ".filters")
    browser.until_equal(browser.seqs, [2, 4, 6, 8, 10, 11, 12, 13, 14, 16, 17])
    browser.click("kinds", ".filters")
    browser.click("emit 4", ".kinds")
    browser.until_equal(browser.seqs, [2, 8, 12, 13, 14, 16, 17])
    browser.click("only findings", ".filters")
    browser.until_equal(browser.seqs, [13, 16])
    browser.click("Show all", ".filters")
    browser.until_equal(browser.seqs, list(range(20)))
    browser.click('only tuple "2"', ".filters")
    browser.until_equal(browser.seqs, [9, 10, 11, 12, 13])
    browser.click("all threads", ".thread-line")
    browser.until_equal(browser.seqs, list(range(20)))


def test_a_message_is_copied_as_it_came(browser: Browser) -> None:
    browser.open(documents.everything(), "#talk/4")
    browser.click("copy", ".message")
    browser.button("copied", ".message")
    browser.click("as it came", ".message")
    assert browser.clipboard() == browser.text(".message pre")


def test_filters_stand_in_the_address_and_come_back_from_it(browser: Browser) -> None:
    talk(browser)
    browser.click("to the component", ".filters")
    browser.click("only findings", ".filters")
    browser.type(".filters input[type=search]", "ack")
    browser.until(lambda: len(browser.seqs()) < 3)
    left = browser.seqs()
    assert left
    fragment = browser.js("location.hash")
    assert fragment.startswith("#talk?text=ack&")
    browser.open(documents.page(documents.conversation()), fragment)
    browser.until_equal(browser.seqs, left)
    browser.click("Show all", ".filters")
    browser.until_equal(browser.seqs, list(range(20)))
    assert browser.js("location.hash") == "#talk"


@pytest.mark.parametrize("query", ["lanes=99.-1.x&kinds=1e9&thread=77", "%", "nothing=1", "text="])
def test_filters_of_an_address_that_there_are_not_filter_nothing(browser: Browser, query: str) -> None:
    browser.open(documents.page(documents.conversation()), f"#talk?{query}")
    browser.until_equal(browser.seqs, list(range(20)))


def test_kinds_are_chosen_from_none(browser: Browser) -> None:
    talk(browser)
    browser.click("kinds", ".filters")
    browser.click("none", ".kinds")
    browser.until(lambda: "No event is left by the filters." in browser.text(".diagram"))
    browser.click("ack 3", ".kinds")
    browser.until_equal(browser.seqs, [8, 12, 13])


def test_a_jump_to_a_hidden_event_lifts_the_filters(browser: Browser) -> None:
    talk(browser)
    browser.type(".filters input[type=search]", "heartbeat")
    browser.until_equal(browser.seqs, [0, 15])
    browser.click("Next finding")
    browser.until_equal(browser.chosen, 16)
    assert browser.text(".said") == "The filters hid this event: they are lifted."


def test_where_versions_die_a_line_says_so(browser: Browser) -> None:
    talk(browser)
    assert browser.texts("[data-fate]") == ["Storm 2.8.3 and 4 others would have killed the worker here"]
    tops = [browser.one(selector).rect["y"] for selector in (row(13), "[data-fate]", row(14))]
    assert tops == sorted(tops)
    lines = browser.texts(".outlook li")
    assert lines[0] == "survivesStorm 0.7.1It would have gone on to the end."
    assert lines[1].startswith("diesStorm 0.9.7, 0.10.2, 1.2.4, 2.5.0 and 2.8.3at event 13The worker dies")
    browser.click_on(row(3))
    browser.click("at event 13", ".outlook")
    browser.until_equal(browser.chosen, 13)


def test_a_finding_of_the_whole_conversation_is_shown_beside_it(browser: Browser) -> None:
    finding = {**documents.ACK_TWICE, "seq": None, "related": [], "message": "It never settled a tuple."}
    talk(browser, findings=[finding], outlook=[])
    assert browser.chosen() is None
    assert "It never settled a tuple." in browser.text(".detail")
    assert browser.all(".badge") == []


def test_two_conversations_keep_to_themselves(browser: Browser) -> None:
    browser.open(documents.page(documents.conversation("one"), documents.conversation("two")), "#two/4")
    chosen = "[data-section={}] .row.chosen"
    browser.until(lambda: browser.all(chosen.format("two")))
    browser.until_equal(lambda: browser.one(chosen.format("two")).get_attribute("data-seq"), "4")
    browser.click_on("[data-section=two] .rows")
    browser.press("n")
    browser.until(lambda: browser.one(chosen.format("two")).get_attribute("data-seq") in {"13", "16"})


def near(browser: Browser, wanted: int) -> bool:
    return any(abs(seq - wanted) < 40 for seq in browser.seqs())


def test_of_many_events_only_those_in_view_stand_in_the_dom(browser: Browser) -> None:
    browser.open(documents.large(MANY))
    browser.until(browser.seqs)
    assert browser.text(".filters-count") == "100,000 events"
    for scroll in (0, 0.5, 1):
        browser.js(f"(document.querySelector('.rows').scrollTop = {scroll} * {MANY} * 30)")
        browser.until(partial(near, browser, int(MANY * scroll)))
        assert 10 < len(browser.seqs()) < MOST_ROWS


def test_among_many_events_jumps_filters_and_links_work(browser: Browser) -> None:
    browser.open(documents.large(MANY), "#talk/77777")
    browser.until_equal(browser.chosen, 77_777)
    browser.press("n")
    browser.until_equal(browser.chosen, 79_999)
    browser.type(".filters input[type=search]", "snow 12345")
    browser.until_equal(browser.seqs, [49_381])
    assert browser.text(".filters-count") == "1 of 100,000 events"
    browser.click("Show all", ".filters")
    browser.until_equal(browser.chosen, 79_999)
    assert len(browser.seqs()) < MOST_ROWS


def test_of_many_conversations_only_those_near_the_view_have_rows(browser: Browser) -> None:
    browser.open(documents.page(*(documents.conversation(f"talk-{number}") for number in range(40))))
    browser.until(browser.seqs)
    assert len(browser.seqs()) < MOST_ROWS
