"""Which tests execute each instruction of the table: instructions_by_test.txt and docs/machine-instructions.md.

`python -m tests.unit.sandbox.machine.conformance` runs the tests of instructions' values, notes what they decode, reads
the code of the shipped seeds and of the honest kernels, and rewrites the list of names and the document's counts; it
takes some minutes. A test asks whether the list names every row of the table once and the document has its counts.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
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
NAMES = FOLDER / "instructions_by_test.txt"
DOCUMENT = Path(__file__).parents[4] / "docs" / "machine-instructions.md"
HONEST = Path(__file__).parents[3] / "kernels" / "honest" / "corpus"
START, END = "<!-- lists: python -m tests.unit.sandbox.machine.conformance -->\n", "<!-- end of the lists -->"
# Tests that compare values with something else than the interpreter, and what that is.
ORACLES = {
    "test_scalar_integers": "Python's integers",
    "test_bits_of_integers": "Python's integers, NumPy",
    "test_integers_lanes": "NumPy's exact integers",
    "test_integers64_wide": "Python's integers",
    "test_integers_folding": "LLVM's constant folding",
    "test_comparisons": "NumPy",
    "test_cross_lane": "definition in NumPy",
    "test_float_operations": "NumPy, exact integers",
    "test_conversions_of_floats": "NumPy, ml_dtypes, exact integers",
    "test_packed_floats": "NumPy",
    "test_transcendental": "exact values, within the documented error",
    "test_operands_forms": "definition in NumPy",
    "test_control_flow": "definition",
    "test_matrix": "AMD's matrix calculator, NumPy",
    "test_matrix_exact": "MMA-Sim's stored outputs",
    "test_sparse_matrix": "AMD's matrix calculator, NumPy",
    "test_lane_data_memory": "NumPy",
    "test_lds_elements": "NumPy",
    "test_typed_buffers": "NumPy's conversions",
    "test_scalar_memory": "NumPy",
    "test_exchanges": "definition in NumPy",
}
CONSISTENT = "test_known_bits"  # no oracle: what is defined hangs on nothing that is undefined
KERNELS, SHARED, NONE = "kernels", "shared", "none"
OTHERS = {  # groups without a test of values, and what stands for one
    SHARED: "the function that executes them, under another name",
    KERNELS: "code of seeds or honest kernels, whose results are compared",
    CONSISTENT: "that what is defined hangs on nothing undefined",
    NONE: "nothing",
}


class Recorder:
    """Notes, as a plugin of pytest, which rows of the table each module decodes."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rows: dict[str, set[str]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Take what was decoded since the test before this one."""
        decoded = instruction_decoder._decoded
        self.rows.setdefault(item.path.stem, set()).update(instruction.row.name for instruction in decoded.values())
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
        mnemonics = {instruction.text.partition(" ")[0] for instruction in read_listing(listing).instructions}
        rows |= {entry[0].name for mnemonic in mnemonics if (entry := find_row(mnemonic))}
    return rows


def grouped(rows: Mapping[str, set[str]], kernels: set[str]) -> dict[str, list[str]]:
    """Put each instruction under its first test of values, or under what else executes it."""
    by: dict[str, list[str]] = {name: [] for name in (*ORACLES, *OTHERS)}
    functions = {instruction_table()[name].semantics for module in ORACLES for name in rows.get(module, ())}
    for name, row in instruction_table().items():
        module = next((module for module in ORACLES if name in rows.get(module, ())), "")
        if not module and row.semantics in functions:
            module = SHARED
        elif not module:
            module = KERNELS if name in kernels else CONSISTENT if name in rows.get(CONSISTENT, ()) else NONE
        by[module].append(name)
    return by


def names_of(by: Mapping[str, list[str]]) -> str:
    """Write the groups: a line with the group, then indented lines with its instructions."""
    wrapped = (
        textwrap.fill(" ".join(names), 120, initial_indent="  ", subsequent_indent="  ") for names in by.values()
    )
    return "".join(f"{group}\n{names}\n" if names else f"{group}\n" for group, names in zip(by, wrapped, strict=True))


def groups_in(text: str) -> dict[str, list[str]]:
    """Read what `names_of` writes."""
    by: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith(" "):
            by[next(reversed(by))] += line.split()
        else:
            by[line] = []
    return by


def page(by: Mapping[str, list[str]]) -> str:
    """A table by test; the instructions that no test of values or shared function executes by name."""
    parts = ["\n| test | compared with | instructions |\n|---|---|--:|\n"]
    parts += [f"| `{test}` | {oracle} | {len(by[test])} |\n" for test, oracle in ORACLES.items()]
    parts += [f"| {group} | {meaning} | {len(by[group])} |\n" for group, meaning in OTHERS.items()]
    parts.append(f"| all | | {sum(map(len, by.values()))} |\n")
    for group in (KERNELS, CONSISTENT, NONE):
        if by[group]:
            parts.append(f"\n{group.capitalize()}: {', '.join(f'`{name}`' for name in by[group])}.\n")
    return "".join(parts) + "\n"


def main() -> None:
    """Rewrite the list of names and the counts of the document."""
    by = grouped(executed(), in_kernels())
    NAMES.write_text(names_of(by), encoding="utf-8")
    write_page(by)


def write_page(by: Mapping[str, list[str]]) -> None:
    """Put the counts between the marks of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(text[: text.index(START) + len(START)] + page(by) + text[text.index(END) :], encoding="utf-8")


if __name__ == "__main__":
    main()
