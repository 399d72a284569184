"""The page in a real browser with hostile text, from disk, on a phone, and asked for by strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.chromium import browser_path
from page import RunReader, write_report
from page.sheets import Extras
from page.single_file import FOLDER
from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_visits import VIEWS, everywhere, sheet, visit
from tests.support.payloads import PAYLOADS

pytest.importorskip("starlette")

from tests.support.page_server import RATES, Served, served, some_machine

pytest_plugins = ["tests.support.page_fixtures"]
CANDIDATES = 90
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="there is no Chromium on this machine (Debian: chromium)"),
]


FIELDS = (
    "title", "description", "rubric", "finding", "reason", "critique", "report", "lesson", "strategy", "prompt",
    "reply", "literature", "kernel", "counter", "explanation", "model", "source", "stop_reason", "author", "task",
)  # fmt: skip


def hostile(folder: Path) -> tuple[LongRun, tuple[str, ...]]:
    """A run whose every text tries to become more than text, and some of its candidates."""
    long_run = LongRun(folder, texts=lambda field, text: f"{field} {text} {' '.join(PAYLOADS)}", run_id="hostile")
    long_run.write(14)
    lines = RunReader(long_run.ledger, long_run.artefacts, "hostile").book().lines
    accepted = next(line.id for line in lines if line.generation and line.status == "accepted")
    return long_run, (accepted, next(line.id for line in lines if line.status == "rejected"))


def test_sixty_payloads_in_twenty_fields_run_nothing_live_or_from_disk(browser: Browser, tmp_path: Path) -> None:
    assert len(PAYLOADS) >= 60 and len(FIELDS) >= 10
    long_run, candidates = hostile(tmp_path)
    with served(tmp_path) as page:
        browser.open(page.address)
        live = everywhere(browser, "hostile", candidates)
    path = write_report(
        RunReader(long_run.ledger, long_run.artefacts, "hostile", Extras(PAYLOADS[0], PAYLOADS[1], PAYLOADS[2], RATES)),
        tmp_path / "hostile.html",
        some_machine,
    )
    browser.requests.clear()
    browser.open(path.as_uri())
    stored = everywhere(browser, "hostile", candidates)
    for text in (live, stored):
        for field in FIELDS:
            assert f"{field} " in text, field
        assert text.count("<script>alert(1)</script>") > len(FIELDS)
    assert browser.faults == []
    assert {url for url in browser.requests if not url.startswith("file://")} == set()
    assert (
        browser.run("document.querySelectorAll('main script, main iframe, main img, main object, main base').length")
        == 0
    )
    long_run.ledger.close()


def test_the_exported_file_is_the_same_page_and_needs_nothing(browser: Browser, run: LongRun, tmp_path: Path) -> None:
    reader = RunReader(run.ledger, run.artefacts, run.run.id, Extras("Softmax of each row", rates=RATES))
    path = write_report(reader, tmp_path / "a report.html", some_machine)
    browser.open(path.as_uri())
    browser.wait("document.querySelector('.figures')")
    best = reader.book().head.best_id
    text = everywhere(browser, run.run.id, (best, "g001-e1-a0"))
    for words in (
        "Softmax of each row",
        "Order blocks by XCD",
        "You are the coder",
        "global_load_dwordx4",
        "TCC_READ",
        "arXiv",
    ):
        assert words in text
    browser.run("location.hash = '#/run/another'")
    browser.wait("document.querySelector('main').innerText.includes('this file holds the run')")
    assert browser.faults == []
    assert {url.split("#")[0].split("?")[0] for url in browser.requests} == {path.as_uri()}


SQUEEZED = """
[...document.querySelectorAll('main .scroll td')].filter(cell => cell.offsetWidth < 60 && cell.offsetHeight > 90).length
"""
OVERLAPS = """
(() => {
  const told = [...document.querySelectorAll('main svg text')].filter(text => text.textContent);
  const boxes = told.map(text => text.getBoundingClientRect());
  const apart = (a, b) => a.right < b.left + 2 || b.right < a.left + 2 || a.bottom < b.top + 3 || b.bottom < a.top + 3;
  return boxes.flatMap((a, n) => boxes.slice(n + 1).filter(b => !apart(a, b))).length;
})()
"""

STEEP = """
(() => { %s
  const line = (label, slope) => ({label, points: [{x: 1, y: slope}, {x: 10, y: 10 * slope}]});
  const axis = {label: 'n', format: String, low: 1, high: 10};
  const lines = [line('the first 34.4 TB/s', 1.3), line('the second 17.2 TB/s', 1.0)];
  const options = {dots: [], lines, x: axis, y: {...axis, high: 5}};
  document.querySelector('main').replaceChildren(drawn(options, 340, 300, h('div')));
  return [...document.querySelectorAll('main .label')].filter(text => text.textContent.startsWith('the ')).length;
})()
"""


def test_labels_of_lines_that_leave_side_by_side_stand_apart(browser: Browser, page: Served) -> None:
    browser.open(page.address)
    script = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("dom.js", "plot.js"))
    assert browser.run(STEEP % script) == 2
    assert browser.run(OVERLAPS) == 0
    assert browser.run("[...document.querySelectorAll('main svg text')].every(text => text.getBBox().x >= 0)")


def test_on_a_phone_the_parts_of_a_candidate_can_be_reached_and_no_text_is_squeezed_or_hidden(
    browser: Browser, page: Served, run: LongRun
) -> None:
    browser.size(390, 844)
    browser.open(page.address)
    browser.wait("document.querySelector('tbody')")
    assert "done" in browser.text("tbody") and "playbook" not in browser.text("tbody")
    for view in VIEWS:
        visit(browser, run.run.id, view)
        assert browser.run(SQUEEZED) == 0, view
        current = "document.querySelector('nav [aria-selected=true]').getBoundingClientRect()"
        browser.wait(f"{current}.right <= innerWidth + 1 && {current}.left >= 0")
    visit(browser, run.run.id, "roofline")
    assert browser.run(OVERLAPS) == 0
    best = RunReader(run.ledger, run.artefacts, run.run.id).book().head.best_id
    visit(browser, run.run.id, "candidates", best)
    browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{best}')")
    assert browser.run(SQUEEZED) == 0
    browser.run("window.scrollTo(0, 700)")
    sheet(browser, "source")
    assert "__global__" in browser.text(".sheet")


def test_the_page_and_the_token_are_shown_to_nobody_else(browser: Browser, page: Served) -> None:
    """Another origin in the same browser gets nothing: no data by fetch, no frame, no stream, no script of ours."""
    browser.open(page.address)
    with_cookie = browser.run("fetch('/api/runs').then(r => r.status)")
    browser.call("Page.navigate", url=f"http://localhost:{page.port}/")
    browser.wait("document.readyState === 'complete' && location.hostname === 'localhost'")
    refused = browser.run("document.body.innerText")
    other = f"http://127.0.0.1:{page.port}/api/runs"
    across = browser.run(f"fetch({json.dumps(other)}, {{credentials: 'include'}}).then(r => r.status, e => 'refused')")
    assert (with_cookie, across) == (200, "refused")
    assert "not the page's own" in refused


DIFFERENCES = """
(() => { %s
  let seed = 7; const draw = n => (seed = (seed * 48271) %% 2147483647) %% n;
  const text = () => Array.from({length: draw(30)}, () => ["a", "b", "  c", "}", ""][draw(5)]).join("\\n") + "\\n";
  for (let n = 0; n < 2000; n++) {
    const before = text(), after = text(), rows = difference(before, after), a = linesOf(before), b = linesOf(after);
    const kept = sign => rows.filter(r => r.sign !== sign).map(r => r.text).join("\\n");
    if (kept("+") !== a.join("\\n") || kept("-") !== b.join("\\n")) return `wrong: ${JSON.stringify([before, after])}`;
    const is_off = r => (r.before && a[r.before - 1] !== r.text) || (r.after && b[r.after - 1] !== r.text);
    if (rows.some(is_off)) return "numbers";
    const gaps = shortened(rows).reduce((s, r) => s + (r.sign === "gap" ? Number(r.text.split(" ")[0]) : 1), 0);
    if (gaps !== rows.length) return "gaps";
  }
  const long = Array.from({length: 40}, (_, n) => String(n)).join("\\n") + "\\n";
  return shortened(difference(long, long.replace("20\\n", "twenty\\n"))).map(r => r.sign).join("");
})()
"""


def test_both_texts_can_be_read_out_of_a_difference(browser: Browser) -> None:
    signs: Any = browser.run(DIFFERENCES % (FOLDER / "difference.js").read_text(encoding="utf-8"))
    assert signs == "gap   -+   gap"


TIMES = """
(() => { %s
  return [atClock('2026-11-23T08:05:09Z'), onDay('2026-11-23T08:05:09Z'), onDay('2026-01-01T03:00:00Z')];
})()
"""


@pytest.mark.parametrize(
    ("zone", "times"),
    [
        ("America/Los_Angeles", ["00:05:09", "2026-11-23 00:05", "2025-12-31 19:00"]),
        ("Asia/Tokyo", ["17:05:09", "2026-11-23 17:05", "2026-01-01 12:00"]),
    ],
)
def test_day_and_time_are_both_where_the_reader_is(browser: Browser, zone: str, times: list[str]) -> None:
    browser.call("Emulation.setTimezoneOverride", timezoneId=zone)
    try:
        assert browser.run(TIMES % (FOLDER / "dom.js").read_text(encoding="utf-8")) == times
    finally:
        browser.call("Emulation.setTimezoneOverride", timezoneId="")
