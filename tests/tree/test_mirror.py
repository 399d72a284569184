"""The layout: tests/unit mirrors the packages, and no class and no file name stands twice in the product."""

from __future__ import annotations

import ast
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

from kernel_scientist.own_packages import NAMES
from tests.support.mentioned_modules import reached

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests" / "unit"
PACKAGES = ("kernel_scientist", *NAMES)
COVERED = ROOT / "tests" / "tree" / "covered.txt"  # modules without a unit test of their name, and what covers each
ANYWHERE = ("__init__.py", "__main__.py", "reference.py")  # a task's reference is loaded by its path


def modules(*packages: str) -> list[str]:
    """Paths of all modules that can have a test."""
    found = (path.relative_to(ROOT) for package in packages for path in (ROOT / package).rglob("*.py"))
    return sorted(str(path) for path in found if path.name not in ANYWHERE)


def subject(test: Path) -> str | None:
    """The module, the header or the part of an interpreter that a unit test belongs to: the longest name that fits."""
    folder, words = test.relative_to(UNIT).parent, test.stem.removeprefix("test_").split("_")
    for end in range(len(words), 0, -1):
        name = "_".join(words[:end])
        for place in (f"{name}.py", f"{name}.h", f"interpreter/{name}.cpp", f"interpreter/{name}.h"):
            if (ROOT / folder / place).is_file():
                return str(folder / place)
    return None


def covered() -> dict[str, str]:
    lines = (line for line in COVERED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return dict(line.split() for line in lines)


UNIT_TESTS = sorted(UNIT.rglob("test_*.py"))


def test_every_unit_test_belongs_to_a_module_of_its_folder() -> None:
    assert [str(test.relative_to(ROOT)) for test in UNIT_TESTS if subject(test) is None] == []


def test_every_module_has_a_unit_test_or_stands_in_the_list() -> None:
    own = {subject(test) for test in UNIT_TESTS}
    assert sorted(set(modules(*PACKAGES)) - own - set(covered())) == []
    assert sorted(set(covered()) & own) == [], "these have a unit test now: take them out of the list"
    assert sorted(set(covered()) - set(modules(*PACKAGES))) == []


@pytest.mark.parametrize("module", covered())
def test_what_covers_a_module_exists_and_reaches_it(module: str) -> None:
    test = covered()[module]
    assert Path(test).name.startswith("test_") and (ROOT / test).is_file()
    assert module in reached(test)


def test_no_folder_of_tests_is_passed_over(pytestconfig: pytest.Config) -> None:
    """pytest leaves out folders by their names: those of `build` it did once, with 244 tests."""
    patterns = pytestconfig.getini("norecursedirs")
    folders = {part for path in (ROOT / "tests").rglob("test_*.py") for part in path.relative_to(ROOT).parts[:-1]}
    assert folders > {"unit", "kernels"} and patterns
    assert [name for name in folders if any(fnmatch(name, pattern) for pattern in patterns)] == []


def test_no_file_name_stands_twice_in_the_product() -> None:
    found = defaultdict[str, list[str]](list)
    for path in modules(*PACKAGES):
        found[Path(path).name].append(path)
    assert [paths for paths in found.values() if len(paths) > 1] == []


def test_no_class_name_stands_twice_in_the_product() -> None:
    found = defaultdict[str, list[str]](list)
    for path in modules(*PACKAGES):
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path)
    assert [(name, paths) for name, paths in found.items() if len(paths) > 1] == []


def test_a_misplaced_test_and_a_module_out_of_reach_are_seen() -> None:
    assert subject(UNIT / "sandbox" / "test_lab.py") is None
    assert subject(UNIT / "sandbox" / "lab" / "test_lab_fp8.py") == "sandbox/lab/lab.py"
    assert (
        subject(UNIT / "sandbox" / "machine" / "test_memory_orders.py")
        == "sandbox/machine/interpreter/memory_orders.cpp"
    )
    assert "app/cli.py" not in reached("records/ledger.py") and "records/errors.py" in reached("records/ledger.py")
