"""The share of removed `s_waitcnt` and `s_barrier` that the machine finds in the seeds' listings.

One instruction at a time is taken out of a seed's listing, and the rest runs on the task's smallest test cases. What no
case reaches does not count, nor does a wait at which nothing is outstanding whenever it is reached (the compiler waits
where ways join): both are known from another run, with a trap in front that is taken where a hardware counter, IB_STS,
is above what the instruction waits for. A removal is found where the machine reports something or the outputs differ.
By hand: `python -m benchmarks.machine_waits [TASK ...]`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from app.settings import load_settings
from benchmarks.figure import Figure, report
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.instances import instantiated
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.lab_verify import task_buffers
from sandbox.lab.listed_values import ListedValues
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Case, Task

TASKS = ("row_softmax", "transpose", "rms_norm", "reduction", "bf16_gemm", "int4_gemm", "top_k", "histogram")
CASES = 2  # the smallest ones
GOAL = 0.98
_TRAP = ("\ts_trap 2",)
# Bits of IB_STS: where the parts of each counter stand, and how many they are.
_COUNTERS = {"vmcnt": ((0, 4), (22, 2)), "lgkmcnt": ((8, 4),)}
_WAITED = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_ORDERS = re.compile(r"^\t(s_waitcnt|s_barrier)\b")


@dataclass(frozen=True)
class Removal:
    """One instruction of a listing that was taken out, and what came of it."""

    row: int  # of the listing
    text: str
    evidence: str  # a finding's kind, "outputs" where only those differ, "" where nothing shows


@dataclass(frozen=True)
class Bench:
    """A seed's listing and the cases it runs on."""

    lab: MachineLab
    listing: str
    symbols: dict[str, str]
    cases: tuple[tuple[ResolvedPlan, tuple[Buffer, ...]], ...]

    def program(self, listing: str) -> LabProgram:
        """Decode the listing, which is a variant of one that the compiler has made."""
        program = self.lab.program(listing, self.symbols, SOURCE)
        assert isinstance(program, LabProgram), program
        return program

    def run(self, listing: str) -> Iterator[Execution]:
        """Execute the listing on each case, as it stands."""
        program = self.program(listing)
        for plan, buffers in self.cases:
            yield self.lab.execute(ExecutionRequest(program, plan, buffers, deadline_s=30.0, probes=False))

    def orders(self) -> Iterator[tuple[int, str]]:
        """Yield the rows of the listing that wait."""
        for row, text in enumerate(self.listing.split("\n")):
            if _ORDERS.match(text):
                yield row, text.strip()

    def instead(self, row: int, *texts: str) -> str:
        """Return the listing with other lines in the place of one."""
        rows = self.listing.split("\n")
        return "\n".join([*rows[:row], *texts, *rows[row + 1 :]])


def bench(lab: MachineLab, compiler: Compiler, prepared: Prepared, cases: int = CASES) -> Bench:
    """Compile a seed; it is expected to compile."""
    task = prepared.task
    compilation = compiler.compile(prepared.candidate, prepared.tunables, is_assembled=False)
    assert compilation.ok, compilation.findings
    symbols = {name: kernel.symbol for kernel in compilation.kernels for name in (kernel.symbol, kernel.name)}
    launched = {launch.kernel for launch in instantiated(prepared.candidate, prepared.tunables).plan.launches}
    values = ListedValues(task)
    smallest = sorted((case for case in task.tests if case.role == "test"), key=lambda case: _size(task, case))[:cases]
    plans = ((case, prepared.plan(case)) for case in smallest)
    rows = tuple((plan, task_buffers(task, case, plan, values.of(case, None).inputs)) for case, plan in plans)
    return Bench(lab, compilation.listing, {name: symbols[name] for name in launched}, rows)


def removals(seed: Bench, most: int | None = None) -> Iterator[Removal]:
    """Take out each instruction that waits and that is executed, at most so many."""
    expected = list(seed.run(seed.listing))
    assert not any(execution.findings for execution in expected), [execution.findings for execution in expected]
    for row, text in list(seed.orders())[:most]:
        if any(execution.findings for execution in seed.run(seed.instead(row, *trap(text)))):
            yield Removal(row, text, _evidence(seed.run(seed.instead(row)), expected))


def trap(text: str) -> tuple[str, ...]:
    """Write lines that end the program where an instruction has something to wait for; a barrier always has."""
    if not (waited := _WAITED.findall(text)):
        return _TRAP
    rows = ["s_cselect_b32 ttmp4, 1, 0", "s_getreg_b32 ttmp5, hwreg(HW_REG_IB_STS)"]
    for name, most in waited:
        rows.append("s_mov_b32 ttmp6, 0")
        shift = 0
        for start, width in _COUNTERS[name]:
            rows += [f"s_bfe_u32 ttmp7, ttmp5, {width << 16 | start:#x}", f"s_lshl_b32 ttmp7, ttmp7, {shift}"]
            rows.append("s_or_b32 ttmp6, ttmp6, ttmp7")
            shift += width
        rows += [f"s_cmp_le_u32 ttmp6, {most}", f"s_cbranch_scc1 .Lno_{name}", *_TRAP, f".Lno_{name}:"]
    rows += ["s_cmp_lg_u32 ttmp4, 0", text]  # SCC is as it was
    return tuple(row if row.endswith(":") else f"\t{row.strip()}" for row in rows)


def _evidence(runs: Iterator[Execution], expected: Sequence[Execution]) -> str:
    for execution, right in zip(runs, expected, strict=True):
        if execution.findings:
            return execution.findings[0].kind
        if any(execution.outputs[name].tobytes() != right.outputs[name].tobytes() for name in right.outputs):
            return "outputs"
    return ""


def _size(task: Task, case: Case) -> int:
    return sum(prod(task.shape_of(spec, case)) for spec in (*task.inputs, *task.outputs))


def figures(by_seed: dict[str, list[Removal]]) -> list[Figure]:
    """Give the share found for each seed and for all."""
    groups = {**by_seed, "all": [removal for rows in by_seed.values() for removal in rows]}
    return [
        Figure(
            f"machine_waits.{name}",
            sum(bool(removal.evidence) for removal in rows) / max(1, len(rows)),
            "",
            "removed instructions that are executed",
            len(rows),
            f">= {GOAL}" if name == "all" else "",
        )
        for name, rows in groups.items()
    ]


def main(names: Sequence[str]) -> int:
    """Take out every wait of the seeds' listings and report."""
    cache = load_settings().cache_folder
    parts = find_toolchain(cache / "toolchain"), cache, load_target("mi300x")
    lab, compiler = MachineLab(*parts), Compiler(*parts)
    by_seed: dict[str, list[Removal]] = {}
    for name in names or TASKS:
        task = load_task(name, "mi300x")
        for seed in task.seeds:
            prepared = prepare(seed.read_text(encoding="utf-8"), task)
            rows = by_seed[f"{name}.{seed.name.partition('.')[0]}"] = list(removals(bench(lab, compiler, prepared)))
            print(f"{name}/{seed.name}: {dict(Counter(removal.evidence for removal in rows))}")
            for removal in rows:
                if not removal.evidence:
                    print(f"  nothing shows: row {removal.row} {removal.text}")
    return report("Removed waits and barriers that the machine finds", figures(by_seed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
