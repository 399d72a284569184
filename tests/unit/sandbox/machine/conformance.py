"""The lists of docs/machine-instructions.md: which tests execute each instruction of the table.

`python -m tests.unit.sandbox.machine.conformance` runs the tests of instructions' values, notes what they decode, reads
the code of the shipped seeds and of the honest kernels, and rewrites the document; it takes some minutes. A test asks
whether the document names every row of the table once.
"""

from __future__ import annotations

import sys
from collections import Counter
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
KERNELS, SHARED = "kernels", "shared"


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


def lists(rows: Mapping[str, set[str]], kernels: set[str]) -> str:
    """A table by class, then the instructions of each test of values, and what only kernels or nothing executes."""
    by: dict[str, list[str]] = {name: [] for name in (*ORACLES, SHARED, KERNELS, CONSISTENT, "")}
    functions = {instruction_table()[name].semantics for module in ORACLES for name in rows.get(module, ())}
    for name, row in instruction_table().items():
        module = next((module for module in ORACLES if name in rows.get(module, ())), "")
        if not module and row.semantics in functions:
            module = SHARED
        elif not module:
            module = KERNELS if name in kernels else CONSISTENT if name in rows.get(CONSISTENT, ()) else ""
        by[module].append(name)
    parts = [_counts(by)]
    for module, oracle in ORACLES.items():
        parts.append(f"\n**`{module}`**, {oracle} ({len(by[module])}): {_joined(by[module])}\n")
    for module, heading in (
        (SHARED, "By the function that executes them, under another name"),
        (KERNELS, "No test of its own; in the code of seeds or honest kernels, whose results are compared"),
        (CONSISTENT, f"By `{CONSISTENT}` only, without an oracle of values"),
        ("", "By none of these"),
    ):
        parts.append(f"\n**{heading}** ({len(by[module])}):\n\n{_by_class(by[module])}")
    return "".join(parts) + "\n"


def _counts(by: Mapping[str, list[str]]) -> str:
    table = instruction_table()
    lines = ["\n| class | instructions | test of values | of its function | right kernels | defined bits | none |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    module_of = {name: module for module, names in by.items() for name in names}
    for group in (*sorted({row.group for row in table.values()}), "all"):
        names = [name for name, row in table.items() if group in (row.group, "all")]
        counts = Counter("values" if module_of[name] in ORACLES else module_of[name] for name in names)
        cells = [len(names), counts["values"], counts[SHARED], counts[KERNELS], counts[CONSISTENT], counts[""]]
        lines.append(f"| `{group}` | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines).replace("`all`", "all") + "\n"


def _by_class(names: Iterable[str]) -> str:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(instruction_table()[name].group, []).append(name)
    return "".join(f"- {group}: {_joined(mnemonics)}\n" for group, mnemonics in sorted(groups.items())) or "none\n"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def main() -> None:
    """Rewrite the lists of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    texts = lists(executed(), in_kernels())
    DOCUMENT.write_text(text[: text.index(START) + len(START)] + texts + text[text.index(END) :], encoding="utf-8")


if __name__ == "__main__":
    main()
