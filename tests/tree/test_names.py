"""Names that say nothing: their share of the assigned names of each package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.code_table import VAGUE, assigned_names, share_of_vague
from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
DIGESTED = frozenset({"reference.py"})  # part of its task's digest, with which verdicts are stored
MOST = 0.01  # of the assigned names of a package


@pytest.mark.parametrize("package", ["kernel_scientist", *NAMES, "benchmarks"])
def test_names_say_what_a_thing_is(package: str) -> None:
    files = [path for path in (ROOT / package).rglob("*.py") if path.name not in DIGESTED]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    assert share_of_vague(trees) < MOST


def test_every_kind_of_assignment_counts() -> None:
    text = "class A:\n    made: int\ndef f(found, *, own=1):\n    for one in found:\n        at, _ = one\n"
    names = [name for name in assigned_names(ast.parse(text)) if name in VAGUE]
    assert sorted(names) == ["at", "found", "made", "one", "own"]
