"""The lists of docs/machine-instructions.md: which tests execute each instruction of the table.

`python -m tests.unit.sandbox.machine.conformance` runs the tests of instructions' values, notes what they decode, reads
the code of the shipped seeds and of the honest kernels, and rewrites the document; it takes some minutes. A test asks
whether the document names every row of the table once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.parse import parse
from sandbox.machine import instruction_decoder
from sandbox.machine.instruction_set import find_row, instruction_table
from sandbox.machine.listing_reader import read_listing
from sandbox.target import load_target
from tasks.loader import load_task, task_names

FOLDER = Path(__file__).parent
DOCUMENT = Path(__file__).parents[4] / "docs" / "machine-instructions.md"
HONEST = Path(__file__).parents[3] / "kernels" / "honest" / "corpus"
START, END = "<!-- lists: python -m tests.unit.sandbox.machine.conformance -->\n", "<!-- end of the lists -->"
# Tests that compare values with something else than the interpreter, and what that is.
ORACLES = {
    "test_scalar_arithmetic": "Python's integers",
    "test_integer_bits": "Python's integers, NumPy",
    "test_integer_lanes": "NumPy's exact integers",
    "test_integer_wide": "Python's integers",
    "test_integer_folding": "LLVM's constant folding",
    "test_comparisons": "NumPy",
    "test_cross_lane": "definition in NumPy",
    "test_float_arithmetic": "NumPy, exact integers",
    "test_float_conversions": "NumPy, ml_dtypes, exact integers",
    "test_float_packed": "NumPy",
    "test_float_transcendental": "exact values, within the documented error",
    "test_operand_forms": "definition in NumPy",
    "test_control_flow": "definition",
    "test_matrix": "AMD's matrix calculator, NumPy",
    "test_matrix_exact": "MMA-Sim's stored outputs",
    "test_sparse_matrix": "AMD's matrix calculator, NumPy",
}
CONSISTENT = "test_definedness"  # no oracle: what is defined hangs on nothing that is undefined
KERNELS = "kernels"


class Recorder:
    """Notes, as a plugin of pytest, which rows of the table each module decodes."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rows: dict[str, set[str]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Take what was decoded since the test before this one."""
        decoded = instruction_decoder._decoded
        self.rows.setdefault(item.path.stem, set()).update(each.row.name for each in decoded.values())
        decoded.clear()


def executed() -> dict[str, set[str]]:
    """Rows that each module of tests executes, the short tests only."""
    recorder = Recorder()
    paths = [str(FOLDER / f"{name}.py") for name in (*ORACLES, CONSISTENT)]
    words = ["-q", "-n0", "-m", "not long", "-k", "not million and not long", "-p", "no:cacheprovider"]
    status = pytest.main([*words, *paths], plugins=[recorder])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"the tests do not run ({status})")
    return recorder.rows


def in_kernels() -> set[str]:
    """Rows in the code of the shipped seeds and of the honest kernels, which are compared with references."""
    from tests.support.compiler_cache import COMPILED, toolchain

    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    seeds = [seed for name in task_names() for seed in load_task(name, "mi300x").seeds]
    rows: set[str] = set()
    for path in (*seeds, *sorted(HONEST.glob("*.hip"))):
        candidate = parse(path.read_text(encoding="utf-8"))
        defaults = {name: values[0] for name, values in candidate.plan.tunables.items()}
        listing = compiler.compile(candidate, defaults, is_assembled=False).listing
        mnemonics = {each.text.partition(" ")[0] for each in read_listing(listing).instructions}
        rows |= {entry[0].name for mnemonic in mnemonics if (entry := find_row(mnemonic))}
    return rows


def lists(rows: Mapping[str, set[str]], kernels: set[str]) -> str:
    """One part for each set of tests, then what only kernels or nothing executes."""
    left = dict.fromkeys(instruction_table())
    parts: list[str] = []
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in left:
        groups.setdefault(tuple(module for module in ORACLES if name in rows.get(module, ())), []).append(name)
    without = groups.pop((), [])
    parts.append(f"\n{len(left)} instructions; {len(left) - len(without)} have a test of their values.\n")
    for modules, names in sorted(groups.items(), key=lambda each: -len(each[1])):
        said = "; ".join(f"`{module}` ({ORACLES[module]})" for module in modules)
        parts.append(f"\n**{len(names)}, by {said}**: {_joined(names)}\n")
    ran = [name for name in without if name in kernels]
    defined = [name for name in without if name not in kernels and name in rows.get(CONSISTENT, ())]
    nowhere = [name for name in without if name not in {*ran, *defined}]
    parts.append(f"\n**{len(ran)}, by no test of their own, in right kernels only**: {_joined(ran)}\n")
    parts.append(f"\n**{len(defined)}, by `{CONSISTENT}` only** (no oracle of values): {_joined(defined)}\n")
    parts.append(f"\n**{len(nowhere)}, by none of these**: {_joined(nowhere)}\n\n")
    return "".join(parts)


def _joined(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def main() -> None:
    """Rewrite the lists of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    made = lists(executed(), in_kernels())
    DOCUMENT.write_text(text[: text.index(START) + len(START)] + made + text[text.index(END) :], encoding="utf-8")


if __name__ == "__main__":
    main()
