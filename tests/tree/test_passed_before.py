"""A test is left out only where nothing that it can be broken by has changed since it passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compiler_cache import NEEDED
from tests.support.mentioned_modules import reached
from tests.support.passed_before import FOLDERS, ROOT, WITH_ALL, PassedBefore, file_key, hangs_on

CODEC = ROOT / "tests" / "unit" / "records" / "test_codec.py"


def test_a_file_of_tests_hangs_on_every_module_that_it_imports_or_its_support_does() -> None:
    for path in (path for folder in FOLDERS for path in folder.rglob("test_*.py")):
        parts = hangs_on(path)
        modules = (Path(module) for module in reached(path.relative_to(ROOT).as_posix(), "tests/", {WITH_ALL}))
        missing = [str(module) for module in modules if not any(module.is_relative_to(part) for part in parts)]
        assert missing == [], path.name


def test_it_does_not_hang_on_what_it_cannot_meet() -> None:
    assert {"records", "tests/data", "constraints.txt"} <= hangs_on(CODEC)
    assert hangs_on(CODEC).isdisjoint({"app", "graph", "sandbox", "docs"})
    assert file_key(CODEC, "not long False") != file_key(CODEC, "not long True")


def report(outcome: str, key: str | None, why: str = "") -> pytest.TestReport:
    properties = [] if key is None else [("passed_key", key)]
    return pytest.TestReport("a.py::test", ("a.py", 1, ""), {}, outcome, why, "call", user_properties=properties)  # type: ignore[arg-type]


def test_only_what_passed_whole_is_known_next_time(pytestconfig: pytest.Config) -> None:
    plugin = PassedBefore(pytestconfig)
    for outcome, key, why in (
        *(("passed", "right", ""), ("skipped", "right", NEEDED), ("passed", "", "")),
        *(("passed", "wrong", ""), ("failed", "wrong", "no"), ("skipped", "lacking", "no Postgres here")),
    ):
        plugin.pytest_runtest_logreport(report(outcome, key, why))
    assert plugin.new == {"right"}
    plugin.pytest_runtest_logreport(report("failed", None, "the process ended"))
    assert plugin.new == set()
