"""The page in a browser: what it leads with, on each width, by keyboard, by roles, live, mounted and printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chromium import browser_path
from page import RunReader, write_report
from page.sheets import Extras
from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_rules import offences, rule, spoken
from tests.support.page_visits import SHEETS, VIEWS, sheet, visit

pytest.importorskip("starlette")

from tests.support.page_server import RATES, Served, mounted, served

pytest_plugins = ["tests.support.page_fixtures"]
CANDIDATES = 90
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="there is no Chromium on this machine (Debian: chromium)"),
]
WIDTHS = (320, 360, 768, 1280, 1920, 2560)
PLACES = """
['.headline', '.change', '.course', '.roof-gap', '.figures', '.about'].map((name) => {
  const one = document.querySelector(name), box = one.getBoundingClientRect();
  return [[...document.querySelectorAll('main *')].indexOf(one), box.top + scrollY, box.width * box.height];
})
"""
LEAD = ("the speed of", "The changes that won", "Best time so far", "The roofline", "Benchmark cases")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_and_every_drawing_has_the_width_of_its_place(
    browser: Browser, page: Served, run: LongRun, width: int
) -> None:
    browser.size(width, 900)
    browser.open(page.address)
    for view in ("", *VIEWS):
        if view:
            visit(browser, run.run.id, view)
        browser.wait(f"{rule('badPlots')}.length === 0")
        assert browser.run("document.documentElement.scrollWidth") <= width, view
        assert browser.run(rule("cutOff")) == [], view
    assert browser.faults == []


def test_a_window_made_smaller_or_larger_draws_the_plots_again(browser: Browser, page: Served, run: LongRun) -> None:
    browser.open(page.address)
    for view in ("overview", "roofline", "strategies", "spend"):
        browser.size(2560, 900)
        visit(browser, run.run.id, view)
        for width in (700, 320, 1500):
            browser.size(width, 900)
            browser.wait(f"{rule('badPlots')}.length === 0")
            assert browser.run(rule("cutOff")) == [], (view, width)
    assert browser.faults == []


@pytest.mark.parametrize("is_live", [True, False])
def test_headline_change_curve_and_roofline_lead_in_this_order(
    browser: Browser, page: Served, run: LongRun, tmp_path: Path, is_live: bool
) -> None:
    reader = RunReader(run.ledger, run.artefacts, run.run.id, Extras(rates=RATES))
    browser.open(page.address if is_live else write_report(reader, tmp_path / "report.html").as_uri())
    for width in WIDTHS:
        browser.size(width, 900)
        visit(browser, run.run.id, "overview")
        places = browser.run(PLACES)
        assert places == sorted(places, key=lambda place: place[0])
        tops = [top for _, top, _ in places]
        assert tops == sorted(tops) and tops[0] < tops[1] and tops[3] < tops[4]
        assert all(area > 2000 for _, _, area in places)
    book = reader.book()
    assert f"{book.head.headline.gain or 0:.2f}×" in browser.text(".headline h2")
    for words in ("predicted", "of the roofline", "bound by latency", "Changed"):
        assert words in browser.text(".headline")
    names = [name for role, name, _ in spoken(browser) if role == "heading"]
    order = [next(n for n, name in enumerate(names) if words in name) for words in LEAD]
    assert order == sorted(order)
    last = book.changes[-1]
    choose = "(e, id) => { e.value = id; e.dispatchEvent(new Event('change')); }"
    browser.run(f"({choose})(document.querySelector('.change select'), '{last.id}')")
    browser.wait(f"document.querySelector('.change h3')?.innerText.includes('{last.parent}')")
    assert last.reason in browser.text(".change") and "bound before" in browser.text(".change")
    assert browser.faults == []


def test_tabs_have_their_roles_and_go_by_arrows(browser: Browser, page: Served, run: LongRun) -> None:
    browser.open(page.address)
    visit(browser, run.run.id, "overview")
    assert [name.lower() for role, name, _ in spoken(browser) if role == "tab"] == list(VIEWS)
    browser.run("document.querySelector('nav [aria-selected=true]').focus()")
    for key, view in (
        ("ArrowRight", "candidates"),
        ("ArrowRight", "roofline"),
        ("End", "spend"),
        ("ArrowRight", "overview"),
    ):
        browser.press(key)
        browser.wait(f"document.querySelector('#panel')?.getAttribute('aria-labelledby') === 'panel-tab-{view}'")
        browser.wait(f"document.activeElement.id === 'panel-tab-{view}'")
    visit(browser, run.run.id, "candidates", run.ledger.attempts(run.run.id)[0].id)
    sheet(browser, "outcome")
    for key, name in (("ArrowRight", SHEETS[1]), ("ArrowLeft", SHEETS[0]), ("End", SHEETS[-1])):
        browser.press(key)
        browser.wait(f"document.activeElement.id === 'sheet-tab-{name}'")
        assert browser.run("document.querySelector('#sheet').getAttribute('aria-labelledby')") == f"sheet-tab-{name}"
    visit(browser, run.run.id, "spend")
    browser.run("document.querySelector('.virtual').focus()")
    browser.press("ArrowDown", "ArrowDown", "ArrowUp", "Enter")
    browser.wait("document.querySelector('.talk')?.innerText.includes('You are the coder')")
    browser.press("Home", "Tab")
    browser.wait("document.activeElement.matches('summary')")
    assert browser.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_roles_headings_and_contrast(browser: Browser, page: Served, run: LongRun, scheme: str) -> None:
    browser.show_as(scheme)
    browser.open(page.address)
    found = {"runs": offences(browser)}
    for view in VIEWS:
        visit(browser, run.run.id, view)
        found[view] = offences(browser)
    visit(browser, run.run.id, "candidates", RunReader(run.ledger, run.artefacts, run.run.id).book().head.best_id)
    for name in SHEETS:
        sheet(browser, name)
        found[name] = offences(browser)
    assert {view: faults for view, faults in found.items() if faults} == {}


def test_the_first_run_appears_and_its_step_is_shown_with_its_age(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as page:
        browser.open(page.address)
        browser.wait("document.querySelector('h1')?.innerText === 'No runs yet'")
        assert "kernel-scientist demo" in browser.text("main")
        long_run = LongRun(tmp_path)
        long_run.start(40)
        with long_run.ledger.driving(long_run.run.id):
            browser.wait(f"document.querySelector('tbody')?.innerText.includes('{long_run.run.id}')")
            visit(browser, long_run.run.id, "overview")
            long_run.ledger.event(long_run.run.id, "driving", {})
            long_run.ledger.event(long_run.run.id, "stage", {"experiment": "g001-e1", "stage": "compile", "number": 0})
            browser.wait("document.querySelector('.step')?.innerText.includes('g001-e1: compiling')")
            browser.wait("document.querySelector('.now')?.innerText.includes('g001-e1: compiling')")
            age = browser.text(".now .age")
            browser.wait(f"document.querySelector('.now .age')?.innerText !== '{age}'")
            browser.run("document.querySelector('.diary').focus()")
            long_run.candidate(1, 1, 45.0)
            browser.wait("document.querySelector('.headline .number')?.innerText === '4.00×'")
            browser.wait("!document.querySelector('.step').innerText.includes('g001-e1')")
            assert browser.run("document.activeElement.className").startswith("diary")
        long_run.ledger.finish(long_run.run.id, "done", "the end of this test")
        browser.wait("document.querySelector('.headline')?.innerText.includes('Ended: the end of this test')")
        assert browser.run("document.querySelector('.step').innerText") == ""
        long_run.ledger.close()
    assert [fault for fault in browser.faults if "ERR_" not in fault] == []  # of a stream that the server's end breaks


def test_in_another_application_it_is_the_same_page(browser: Browser, run: LongRun) -> None:
    with mounted(run.folder, "/team/scientist") as address:
        browser.open(address)
        browser.wait(f"document.querySelector('tbody')?.innerText.includes('{run.run.id}')")
        for view in VIEWS:
            visit(browser, run.run.id, view)
        visit(browser, run.run.id, "overview")
        assert browser.run("document.querySelectorAll('.change tr.add').length") > 0
        assert {"/team/scientist" in url for url in browser.requests if url.startswith("http")} == {True}
    assert browser.faults == []


def test_the_printed_page_is_not_cut_off(browser: Browser, page: Served, run: LongRun) -> None:
    browser.open(page.address)
    browser.show_as("light", "print")
    browser.size(700, 1000)
    visit(browser, run.run.id, "overview")
    assert browser.run("document.documentElement.scrollWidth") <= 700
    assert browser.run(rule("cutOff")) == []
    assert browser.run("(e => e.scrollHeight - e.clientHeight)(document.querySelector('.change .code'))") <= 1
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.show_as("light")
    assert browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]
