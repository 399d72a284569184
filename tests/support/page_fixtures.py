"""Fixtures of the page's tests: a run of a module's own, its page, and the browser that looks at it.

A module names this file in `pytest_plugins`, and in `CANDIDATES` how long its run is.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.long_run import LongRun
from tests.support.page_server import Served, served


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongRun]:
    long_run = LongRun(tmp_path_factory.mktemp("page"))
    long_run.write(request.module.CANDIDATES)
    yield long_run
    long_run.ledger.close()


@pytest.fixture(scope="module")
def page(run: LongRun) -> Iterator[Served]:
    with served(run.folder) as server:
        yield server


@pytest.fixture(scope="session")
def shared_browser() -> Iterator[Browser]:
    """One browser for all tests of a process: it takes longer to start than most of them."""
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(shared_browser: Browser) -> Browser:
    shared_browser.size(1280, 800)
    shared_browser.show_as("light")
    shared_browser.faults.clear()
    shared_browser.requests.clear()
    return shared_browser
