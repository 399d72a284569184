"""Ways through the page in a browser."""

from __future__ import annotations

import json

from tests.support.browser import Browser

VIEWS = ("overview", "candidates", "roofline", "strategies", "rejected", "learnt", "spend")
SHEETS = ("outcome", "source", "changes", "counters", "machine", "prompts")


def visit(browser: Browser, run_id: str, view: str, candidate: str = "") -> None:
    path = f"/{candidate}" if candidate else ""
    browser.run(f"location.hash = {json.dumps(f'#/run/{run_id}/{view}{path}')}")
    browser.wait(f"document.querySelector('#panel')?.getAttribute('aria-labelledby') === 'panel-tab-{view}'")
    browser.wait("document.querySelector('main').innerText.length > 20")
    if view == "candidates":
        browser.wait("document.querySelector('.pane .sheet, .pane > .nothing')?.childNodes.length")


def sheet(browser: Browser, name: str) -> str:
    browser.click(f"[data-sheet={name}]")
    browser.wait(f"document.querySelector('[data-sheet={name}]')?.getAttribute('aria-selected') === 'true'")
    return browser.text(".sheet")


def chosen(browser: Browser) -> str:
    return str(browser.run("document.querySelector('.row[aria-selected=true]')?.dataset.id ?? ''"))


def everywhere(browser: Browser, run_id: str, candidates: tuple[str, ...]) -> str:
    """The text of every view, with every part of some candidates and all that can be unfolded."""
    texts = []
    for view in VIEWS:
        visit(browser, run_id, view)
        browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        texts.append(browser.run("document.body.textContent"))
    for candidate in candidates:
        visit(browser, run_id, "candidates", candidate)
        browser.wait(f"document.querySelector('.sheet-head')?.innerText.includes('{candidate}')")
        for name in SHEETS:
            sheet(browser, name)
            if name == "prompts":
                browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
                browser.wait("document.querySelectorAll('.talk pre').length || !document.querySelector('details.call')")
            texts.append(browser.run("document.body.textContent"))
    return "\n".join(texts)
