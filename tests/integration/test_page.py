"""The page in a real browser: every view and every part of a candidate, by keyboard, live, two runs side by side."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from app.chromium import browser_path
from page import RunReader
from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_visits import VIEWS, chosen, sheet, visit

pytest.importorskip("starlette")

from tests.support.page_server import Served, served

pytest_plugins = ["tests.support.page_fixtures"]
CANDIDATES = 90
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="there is no Chromium on this machine (Debian: chromium)"),
]


def test_every_view_shows_its_part_of_the_run_and_asks_nobody_else(
    browser: Browser, page: Served, run: LongRun
) -> None:
    browser.open(page.address)
    assert run.run.id in browser.text("tbody")
    assert "token" not in browser.run("location.href")  # it stays out of the history
    book = RunReader(run.ledger, run.artefacts, run.run.id).book()
    expected = {
        "overview": [
            "90",
            f"{book.head.accepted} verified",
            "Best time so far, predicted",
            "rows=8192,cols=1024",
            "stopped:",
        ],
        "candidates": ["90 candidates", book.head.best_id.removesuffix("-a0"), "Outcome"],
        "roofline": ["fp32 vector 163.4 TFLOP/s", "HBM 5.30 TB/s", "A perfect kernel stands at 0.625"],
        "strategies": ["Order blocks by XCD", "Predicted and found", "most innovative", "T12-O8-R0"],
        "rejected": ["rejected", "over limit", "guard the tail"],
        "learnt": ["Online normaliser", "arXiv 1805.02867", "over g000"],
        "spend": ["planner", "coder", "Cost over time", "generation 11"],
    }
    for view in VIEWS:
        visit(browser, run.run.id, view)
        if view == "roofline":
            browser.run(
                "[...document.querySelectorAll('.choice button')].find(b => b.innerText === 'whole roof').click()"
            )
            browser.wait("document.querySelector('main svg').textContent.includes('TFLOP')")
        if view == "rejected":
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        text = browser.run("document.querySelector('main').textContent")
        for words in expected[view]:
            assert words in text, view
    assert browser.faults == []
    assert {url.split("/")[2] for url in browser.requests if "://" in url} == {f"127.0.0.1:{page.port}"}


def test_the_curve_can_be_read_against_candidates_time_and_cost(browser: Browser, page: Served, run: LongRun) -> None:
    browser.open(page.address)
    visit(browser, run.run.id, "overview")
    curves = set()
    for name, label in (
        ("time", "minutes since the run began"),
        ("cost", "USD paid to the model"),
        ("candidates", "judged"),
    ):
        browser.run(f"[...document.querySelectorAll('.choice button')].find(b => b.innerText === '{name}').click()")
        browser.wait(f"document.querySelector('.plot svg').textContent.includes({json.dumps(label)})")
        curves.add(browser.run("document.querySelector('.line.best').getAttribute('d')"))
    assert len(curves) == 3
    browser.run("document.querySelector('.area').scrollIntoView({block: 'center'})")
    box = browser.run("(b => [b.x, b.y, b.width, b.height])(document.querySelector('.area').getBoundingClientRect())")
    for share in range(1, 20):
        browser.point(box[0] + box[2] * share / 20, box[1] + box[3] * 0.6)
        if browser.run("!document.querySelector('.tip').hidden"):
            break
    assert "µs predicted" in browser.text(".tip")


def test_a_candidate_shows_source_changes_counters_machine_code_and_prompts(
    browser: Browser, page: Served, run: LongRun
) -> None:
    reader = RunReader(run.ledger, run.artefacts, run.run.id)
    book = reader.book()
    bad = next(line for line in book.lines if line.status == "rejected")
    finding = reader.sheet(bad.id).findings[0]
    browser.open(page.address)
    visit(browser, run.run.id, "candidates", bad.id)
    browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{bad.id}')")
    assert finding.message in sheet(browser, "outcome")
    sheet(browser, "source")
    beside = browser.run(f"document.querySelector('#L{finding.line}').nextSibling.innerText")
    assert finding.message in beside
    best = book.head.best_id
    visit(browser, run.run.id, "candidates", best)
    browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{best}')")
    assert "Predicted" in sheet(browser, "outcome") and "over the parent" in browser.text(".sheet")
    sheet(browser, "source")
    hot = reader.sheet(best).hot_lines[0]
    assert "%" in browser.run(f"document.querySelector('#L{hot.line} .cost').innerText")
    assert browser.run("[...document.querySelectorAll('.sheet .text')].map(e => e.textContent).join('\\n')") == (
        reader.sheet(best).source.rstrip("\n")
    )
    assert "parent" in sheet(browser, "changes")
    marks = browser.run("document.querySelectorAll('.sheet tr.add').length")
    browser.run(
        "[...document.querySelectorAll('.sheet .choice button')].find(b => b.innerText.startsWith('seed')).click()"
    )
    browser.wait(f"document.querySelectorAll('.sheet tr.add').length > {marks}")
    assert "TCC_READ" in sheet(browser, "counters") and "l1 clocks" in browser.text(".sheet")
    assert "global_load_dwordx4" in sheet(browser, "machine") and "3 instructions" in browser.text(".sheet")
    assert "planner" in sheet(browser, "prompts") and "coder" in browser.text(".sheet")
    browser.run("document.querySelectorAll('details.call')[1].open = true")
    browser.wait("document.querySelector('.sheet').innerText.includes('You are the coder')")
    assert browser.faults == []


def test_everything_can_be_done_by_keyboard(browser: Browser, page: Served, run: LongRun) -> None:
    browser.open(page.address)
    browser.press("j", "Enter")
    browser.wait("location.hash.includes('/run/')")
    for number, view in enumerate(VIEWS, 1):
        browser.press(str(number))
        browser.wait(f"document.querySelector('nav [aria-selected=true]')?.hash.endsWith('/{view}')")
    browser.press("2")
    best = browser.wait("document.querySelector('.row[aria-selected=true]')?.dataset.id")
    order = browser.run(
        "[...document.querySelectorAll('.lineage .row')].sort((a, b) => a.offsetTop - b.offsetTop)"
        ".map(row => row.dataset.id)"
    )
    after = order[order.index(best) + 1]
    browser.press("j")
    browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{after}')")
    assert chosen(browser) == after
    browser.press("k", "p")
    parent = next(line.parent_id for line in run.ledger.attempts(run.run.id) if line.id == best)
    browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{parent} ')")
    browser.press("b", "]")
    browser.wait("document.querySelector('[data-sheet=source]')?.getAttribute('aria-selected') === 'true'")
    browser.press("[", "[")
    browser.wait("document.querySelector('[data-sheet=prompts]')?.getAttribute('aria-selected') === 'true'")
    browser.press("/", *"xcd", "Enter")
    browser.wait("document.querySelector('.index .note').innerText.includes(' of 90')")
    assert {"Order blocks by XCD"} == set(
        browser.run("[...document.querySelectorAll('.lineage .idea')].map(e => e.innerText)")
    )
    browser.press("?")
    browser.wait("document.querySelector('dialog[open]')?.innerText.includes('next, previous')")
    browser.press("Escape")
    browser.wait("!document.querySelector('dialog')")
    browser.press("u")
    browser.wait("location.hash === '#/'")
    assert browser.faults == []


@pytest.mark.long
def test_a_run_that_goes_on_is_followed_also_over_a_restart_of_the_server(browser: Browser, tmp_path: Path) -> None:
    long_run = LongRun(tmp_path)
    long_run.start(40)
    with served(tmp_path) as page:
        browser.open(page.address)
        visit(browser, long_run.run.id, "overview")
        browser.wait("document.querySelector('.overview .note').innerText.includes('no process is at work on it')")
        browser.wait(f"document.querySelector('.overview .note').innerText.includes('resume {long_run.run.id}')")
        driven = contextlib.ExitStack()
        driven.enter_context(long_run.ledger.driving(long_run.run.id))
        browser.wait("document.querySelector('.top .tag').innerText === 'running'")
        browser.wait("document.querySelector('.state').innerText.includes('live')")
        for n in range(6):
            long_run.grow(n)
        browser.wait("[...document.querySelectorAll('.figures dd')].some(e => e.firstChild.textContent === '8')")
        browser.wait("document.querySelector('.diary').innerText.includes('g001-e6-a0')")
        visit(browser, long_run.run.id, "candidates", "g001-e1-a0")
        browser.wait("document.querySelector('.sheet-head')?.innerText.includes('g001-e1-a0')")
        long_run.grow(6)
        browser.wait("document.querySelector('.index .note').innerText === '9 candidates'")
        assert chosen(browser) == "g001-e1-a0"
        page.stop()
        browser.wait("document.querySelector('.state').innerText.includes('connection lost')")
        port = page.port
    long_run.grow(7)
    with served(tmp_path, port):
        browser.wait("document.querySelector('.index .note').innerText === '10 candidates'")
        long_run.ledger.event(long_run.run.id, "step", {"node": "plan:9", "digest": "f00d" * 16}, "step:plan:9")
        unhoped = long_run.candidate(9, 1, 1.0, is_hoped=False).id
        browser.wait("document.querySelector('.index .note').innerText === '11 candidates'")
        visit(browser, long_run.run.id, "candidates", unhoped)
        browser.wait("document.querySelector('.sheet')?.innerText.includes('over the parent; no gain was predicted')")
        visit(browser, long_run.run.id, "overview")
        browser.wait(f"document.querySelector('.diary')?.innerText.includes('{unhoped}')")
        assert "f00d" not in browser.text(".diary")
        driven.close()  # as a process that is killed lets go
        browser.wait("document.querySelector('.top .tag').innerText === 'stopped'")
        long_run.ledger.finish(long_run.run.id, "done", "the end of this test")
        browser.wait("document.querySelector('.top .tag').innerText === 'done'")
        browser.press("u")
        browser.wait("document.querySelector('tbody')?.innerText.includes('done')")
        LongRun(tmp_path, run_id="another-run").start(10)
        browser.wait("document.querySelector('h1').innerText === '2 runs'")
    with served(tmp_path, port, "another-token"):
        browser.wait("document.querySelector('.state').innerText.includes('token is gone')")
    long_run.ledger.close()


def test_two_runs_are_compared_side_by_side(browser: Browser, tmp_path: Path) -> None:
    for name, seed, size in (("run-a", 3, 30), ("run-b", 4, 50)):
        long_run = LongRun(tmp_path, run_id=name, seed=seed)
        long_run.write(size)
        long_run.ledger.close()
    with served(tmp_path) as page:
        browser.open(page.address)
        for name in ("run-a", "run-b"):
            browser.click(f"input[aria-label='choose {name}']")
        browser.run("[...document.querySelectorAll('button')].find(b => b.innerText.startsWith('compare')).click()")
        browser.wait("document.querySelector('.compare')?.innerText.includes('From the best of a to the best of b')")
        text = browser.text(".compare")
        for words in ("run-a", "run-b", "candidates until the best", "30, ", "50, ", "a over b", "generations"):
            assert words in text
        assert browser.run("document.querySelectorAll('.compare .line.best, .compare .line.second').length") == 2
    assert browser.faults == []
