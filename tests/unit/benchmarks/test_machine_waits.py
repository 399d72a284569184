"""Removed waits: of a tiled transpose each one that is executed is found."""

from __future__ import annotations

from benchmarks.machine_waits import Removal, bench, figures, removals, trap
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.prepare import prepare
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain


def test_each_removed_wait_of_a_seed_is_found() -> None:
    parts = toolchain(), COMPILED, load_target("mi300x")
    task = load_task("transpose", "mi300x")
    seed = next(path for path in task.seeds if path.name == "seed_tiled.hip")
    prepared = prepare(seed.read_text(encoding="utf-8"), task)
    removed = list(removals(bench(MachineLab(*parts), Compiler(*parts), prepared)))
    assert {removal.text.split()[0] for removal in removed} == {"s_waitcnt", "s_barrier"}
    assert [removal for removal in removed if not removal.evidence] == []
    assert {"missing_wait", "race", "undrained_barrier"} <= {removal.evidence for removal in removed}


def test_a_trap_looks_at_the_counters_of_its_wait() -> None:
    assert trap("s_barrier") == ("\ts_trap 2",)
    rows = trap("s_waitcnt vmcnt(1) lgkmcnt(0)")
    assert [row for row in rows if "s_cmp_le" in row] == ["\ts_cmp_le_u32 ttmp6, 1", "\ts_cmp_le_u32 ttmp6, 0"]
    assert rows.count("\ts_trap 2") == 2 and rows[-1] == "\ts_waitcnt vmcnt(1) lgkmcnt(0)"
    assert not any("vmcnt" in row for row in trap("s_waitcnt lgkmcnt(2)"))


def test_the_share_is_of_those_that_are_executed() -> None:
    rows = [Removal(row, "s_barrier", evidence) for row, evidence in enumerate(("race", "", "race"))]
    shares = figures({"a": rows[:2], "b": rows[2:]})
    assert [(share.figure, round(share.value, 3), share.anchor_value) for share in shares] == [
        ("machine_waits.a", 0.5, 2),
        ("machine_waits.b", 1.0, 1),
        ("machine_waits.all", 0.667, 3),
    ]
