"""Every change of a working kernel still works: compiled, executed and compared by the lab on the smallest cases."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from agents.playbook import moves
from agents.source import read
from benchmarks.own_kernels import FOLDER
from sandbox.amdgcn.compiler import Compilation
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.specimens import TILED_TRANSPOSE

ARCH = "gfx942"
BLOCK_SOFTMAX = Path(__file__).parents[4] / "examples" / "block_softmax.hip"
KERNELS = {"row_softmax": load_task("row_softmax").seeds[0].read_text(encoding="utf-8"), "transpose": TILED_TRANSPOSE}


CHANGES = (
    ("argmax", "block_rows:argmax.64"),
    ("bias_gelu", "items:bias_gelu"),
    ("histogram", "privatise:count"),
    ("layer_norm", "wave_rows:layer_norm.64"),
    ("small_gemm", "loop_tile:gemm"),
    ("small_gemm", "register_tile:gemm"),
    ("bias_gelu", "grid_stride:bias_gelu"),
    ("cross_entropy", "prefetch:cross_entropy"),
    ("layer_norm", "prefetch:layer_norm"),
    ("small_gemm", "prefetch:gemm"),
    ("small_gemm", "split_sum:gemm"),
    ("batched_gemv", "split_sum:gemv"),
    ("transpose_add", "tile_in_lds:transpose_add"),
    ("transpose_add", "items:transpose_add"),
)
LONG = {"prefetch:cross_entropy", "prefetch:gemm", "split_sum:gemm", "items:transpose_add"}  # as another of its kind


@pytest.fixture(scope="module")
def lab() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_every_change_still_computes_the_same(name: str, lab: MachineLab) -> None:
    task, source = load_task(name), KERNELS[name]
    reserved = frozenset(t.name for t in (*task.inputs, *task.outputs))
    handles = moves.offers(read(source), ARCH, reserved)
    assert len(handles) > 5
    handles = tuple({h.split(":")[0]: h for h in handles}.values())  # one variant of each, to save time
    for handle in handles:
        prepared = prepare(moves.apply(source, handle, ARCH, reserved), task)
        program = lab.build(prepared.candidate, prepared.tunables)
        assert not isinstance(program, tuple), (handle, program)
        for case in sorted(task.tests, key=lambda c: math.prod(c.dims.values()))[:3]:
            row, findings = Judge(lab, Built(prepared, Compilation(True), program)).run(case)
            assert row.correct, (handle, case.name, row)
            assert not findings, (handle, case.name, findings)


@pytest.mark.slow
def test_a_kernel_with_trees_in_lds_computes_the_same_with_wide_lanes(lab: MachineLab) -> None:
    task, source = load_task("row_softmax"), BLOCK_SOFTMAX.read_text(encoding="utf-8")
    assert "wide_lanes:softmax" in moves.offers(read(source), ARCH, frozenset())
    prepared = prepare(moves.apply(source, "wide_lanes:softmax", ARCH, frozenset()), task)
    for wide in (4, 1):
        program = lab.build(prepared.candidate, {"WIDE": wide})
        assert not isinstance(program, tuple), program
        for case in sorted(task.tests, key=lambda c: math.prod(c.dims.values()))[:4]:
            row, findings = Judge(lab, Built(prepared.choose({"WIDE": wide}), Compilation(True), program)).run(case)
            assert row.correct and not findings, (case.name, row, findings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "handle"),
    [pytest.param(*one, id=one[1], marks=[pytest.mark.long] if one[1] in LONG else []) for one in CHANGES],
)
def test_the_changed_kernel_computes_the_same(name: str, handle: str, lab: MachineLab) -> None:
    task = load_task(str(FOLDER / name))
    source = task.seeds[0].read_text(encoding="utf-8")
    reserved = frozenset(t.name for t in (*task.inputs, *task.outputs)) | set(task.tests[0].dims)
    assert handle in moves.offers(read(source), ARCH, reserved)
    prepared = prepare(moves.apply(source, handle, ARCH, reserved), task)
    program = lab.build(prepared.candidate, prepared.tunables)
    assert not isinstance(program, tuple), program
    for case in sorted(task.tests, key=lambda c: math.prod(c.dims.values()))[:3]:
        row, findings = Judge(lab, Built(prepared, Compilation(True), program)).run(case)
        assert row.correct, (case.name, row)
        assert not findings, (case.name, findings)
