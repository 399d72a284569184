"""Without instrumentation: the same results, nothing checked; and a cache that is reached through a link."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from sandbox.candidate import Candidate, Launch, Plan
from sandbox.compiler import Compiler
from sandbox.lab.lab import Buffer, Execution, LabProgram
from sandbox.resolve import ResolvedPlan
from sandbox.target import load_target
from sandbox.toolchain import find_toolchain
from tests.lab_bench import CACHE, HEAD, floats, lab, launch

SOURCE = HEAD + "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x + OFFSET]; }"
PLAN = Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))


def candidate(source: str) -> Candidate:
    return Candidate(hashlib.sha256(source.encode()).hexdigest(), source, PLAN, 1)


def executed(offset: int, instrumented: bool) -> Execution:
    program = lab().build(candidate(SOURCE), {"OFFSET": offset}, instrumented=instrumented)
    assert isinstance(program, LabProgram)
    buffers = [Buffer("x", floats(64), "input"), Buffer("y", np.zeros(64, np.float32), "output")]
    return lab().execute(program, ResolvedPlan((launch("k", ["x", "y"]),), {}), buffers, count=False, blocks=None,
                         deadline_s=20.0, checks="all" if instrumented else "bounds")


def test_the_plain_program_computes_the_same_and_looks_at_no_access() -> None:
    checked, plain = executed(0, True), executed(0, False)
    assert np.array_equal(plain.outputs["y"], checked.outputs["y"])
    assert np.array_equal(plain.outputs["y"], 2 * floats(64))
    assert (checked.accesses, plain.accesses) == (128, 0)
    assert checked.written["y"].all()
    assert not plain.written["y"].any()
    assert len(plain.launch_seconds) == 1


def test_only_the_instrumented_program_sees_a_read_past_the_end() -> None:
    assert [f.kind for f in executed(1, True).findings] == ["out_of_bounds"]
    assert executed(1, False).findings == ()


def test_a_cache_behind_a_link_is_used_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = Compiler(find_toolchain(CACHE), tmp_path / "link", load_target("mi300x")).compile(
        candidate(SOURCE), {"OFFSET": 0})
    assert made.ok, made.findings
