"""The product's modules import each other in no circle, imports inside functions and for type checkers included."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernel_scientist", *NAMES)


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, empty where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: found.find_modules_directly_imported_by(module) for module in found.modules}
    assert "sandbox.process" in imports["sandbox.amdgcn.compiler"]
    assert circle(imports) == []


@pytest.mark.parametrize(("last", "length"), [("a", 4), ("d", 0)])
def test_a_circle_is_found(last: str, length: int) -> None:
    assert len(circle({"a": {"b"}, "b": {"c"}, "c": {last}})) == length


def test_what_threads_share_is_computed_once() -> None:
    """From Python 3.12 on two threads may compute a `cached_property`, and go on with two values."""
    shared = [path for room in ("sandbox", "tasks", "graph", "knowledge") for path in (ROOT / room).rglob("*.py")]
    assert shared
    assert [str(p) for p in shared if "import cached_property" in p.read_text(encoding="utf-8")] == []
