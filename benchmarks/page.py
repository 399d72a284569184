"""The live page with a run of 2,000 candidates in headless Chromium: the wait for the first picture and for each step.

The ledger is made up (`tests/support/long_run.py`), the server and the browser are real. The first picture is the
browser's own `first-contentful-paint` after the address is opened, and the moment from which the view's content stands.
A step is measured in the page, from the key or the click to the second animation frame after its content has changed,
so that its picture is in. The anchor of each is the same with a run of 100 candidates.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from app.chromium import browser_path
from benchmarks.figure import Figure, report
from page import RunReader, write_report
from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_server import served

MANY, FEW = 2000, 100
SAMPLES = 5
KEYS = 6
PAINTED = """
(() => new Promise(done => {
  const shown = () => document.querySelector(%r)?.childNodes.length > 0;
  const look = () => shown() ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))) :
    requestAnimationFrame(look);
  look();
}))()
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
STEP = """
(() => new Promise((done, fail) => {
  const before = (%(state)s), start = performance.now(), patience = start + 20000;
  const frame = requestAnimationFrame, end = () => frame(() => frame(() => done(performance.now() - start)));
  const late = () => fail(new Error('nothing changed in 20 s after: ' + %(name)s));
  const look = () => (%(state)s) !== before ? end() : performance.now() > patience ? late() : frame(look);
  %(act)s;
  look();
}))()
"""
KEY = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %r, bubbles: true, cancelable: true}))"
SHEET = (
    "document.querySelector('.sheet-head .mono')?.innerText + document.querySelector('[aria-selected=true].row')?.id"
)
SCROLL = "(l => l.scrollTop = l.scrollTop > 900 ? 0 : l.scrollHeight / 2)(document.querySelector('.lineage'))"
SEARCH = "(f => {f.value = %r; f.dispatchEvent(new Event('input'))})(document.querySelector('input[type=search]'))"


def opened(browser: Browser, address: str, selector: str) -> tuple[float, float]:
    """Measure the milliseconds to the first paint and to the view's content."""
    browser.call("Page.navigate", url="about:blank")  # else a new fragment alone would load nothing
    browser.call("Page.navigate", url=address)
    browser.wait("document.readyState !== 'loading' && location.protocol !== 'about:'")
    content_ms = float(browser.run(PAINTED % selector))
    return float(browser.run(PAINT)), content_ms


def step(browser: Browser, act: str, state: str) -> float:
    """Measure the milliseconds of one step."""
    return float(browser.run(STEP % {"act": act, "state": state, "name": json.dumps(act)}))


def steps(browser: Browser, run_id: str) -> dict[str, float]:
    """Give the median of each kind of step, in milliseconds; the worst of them for the keys."""
    view = "document.querySelector('#panel')?.getAttribute('aria-labelledby')"
    times_ms: dict[str, list[float]] = {}
    for _ in range(SAMPLES):
        for name in ("roofline", "strategies", "rejected", "spend", "overview", "candidates"):  # from another view each
            act = f"location.hash = '#/run/{run_id}/{name}'"
            times_ms.setdefault(f"to_{name}", []).append(step(browser, act, view))
        browser.run("document.querySelector('.lineage').scrollTop = 0")
        browser.wait("document.querySelector('.lineage .row')")
        browser.run("document.querySelector('.lineage .row').click()")
        for key in "j" * KEYS + "k" * KEYS:  # there and back: a short run has an end
            times_ms.setdefault("next_candidate", []).append(step(browser, KEY % key, SHEET))
        rows = "document.querySelector('.lineage .rows').innerText"
        times_ms.setdefault("scroll", []).append(step(browser, SCROLL, rows))
        for words in ("xcd", ""):
            times_ms.setdefault("filter", []).append(step(browser, SEARCH % words, rows))
        for name in ("source", "changes"):
            act = f"document.querySelector('[data-sheet={name}]').click()"
            text = "document.querySelector('.sheet')?.innerText"
            times_ms.setdefault(name, []).append(step(browser, act, text))
        browser.run("document.querySelector('[data-sheet=outcome]').click()")
    return {name: statistics.median(values) for name, values in times_ms.items()}


def measured(folder: Path, candidates: int) -> dict[str, float]:
    """Measure all figures of a run of this length, in milliseconds."""
    run = LongRun(folder)
    run.write(candidates)
    file = write_report(RunReader(run.ledger, run.artefacts, run.run_id), folder / "report.html")
    with served(folder) as page, Browser() as browser:
        browser.open(page.address)
        address = f"{page.address}#/run/{run.run_id}/"
        firsts = {
            "overview": [opened(browser, f"{address}overview", ".headline") for _ in range(SAMPLES)],
            "candidates": [opened(browser, f"{address}candidates", ".lineage .rows") for _ in range(SAMPLES)],
            "file": [
                opened(browser, f"{file.as_uri()}#/run/{run.run_id}/overview", ".headline") for _ in range(SAMPLES)
            ],
        }
        times_ms = {
            f"open.{name}": statistics.median(content_ms for _, content_ms in values) for name, values in firsts.items()
        }
        browser.open(f"{address}overview")
        moved = steps(browser, run.run_id)
    run.ledger.close()
    return times_ms | {f"step.{name}": value for name, value in moved.items()} | {"file.mb": file.stat().st_size / 1e6}


def main() -> int:
    """Measure both lengths and print the figures."""
    if browser_path() is None:
        sys.exit("there is no Chromium on this machine (Debian: chromium)")
    with tempfile.TemporaryDirectory() as many, tempfile.TemporaryDirectory() as few:
        long, short = measured(Path(many), MANY), measured(Path(few), FEW)
    anchor = f"the same with {FEW} candidates"
    figures = [
        Figure(f"page.{name}", long[name] / 1000, "s", anchor, short[name] / 1000, "< 2.0")
        for name in long
        if name.startswith("open.")
    ]
    figures += [
        Figure(f"page.{name}", long[name], "ms", anchor, short[name], "< 200")
        for name in long
        if name.startswith("step.")
    ]
    figures.append(Figure("page.file", long["file.mb"], "MB", anchor, short["file.mb"]))
    return report(f"The live page with {MANY:,} candidates", figures)


if __name__ == "__main__":
    sys.exit(main())
