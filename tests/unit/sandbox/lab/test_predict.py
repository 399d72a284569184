"""Predictions for whole tasks: that they order what is known to be ordered."""

from __future__ import annotations

from pathlib import Path

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_verify import Built
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.predict import counted_case, predict
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain

ROOT = Path(__file__).parents[4]
MI300X = load_target("mi300x")
LAB = MachineLab(toolchain(), COMPILED, MI300X, cores=2)


def built(path: str, **tunables: int) -> Built:
    compiler = Compiler(toolchain(), COMPILED, MI300X)
    prepared = prepare((ROOT / path).read_text(encoding="utf-8"), load_task("transpose"), tunables)
    candidate, chosen = prepared.candidate, prepared.tunables
    program, compiled = LAB.build(candidate, chosen), compiler.compile(candidate, chosen)
    assert isinstance(program, LabProgram) and compiled.ok
    return Built(prepared, compiled, program)


def predicted_us(path: str, **tunables: int) -> list[float]:
    """Give the predicted times of the transposition's benchmark cases."""
    kernel = built(path, **tunables)
    evaluation = predict(LAB, kernel, MI300X, kernel.compilation.resources)
    assert evaluation.findings == ()
    return [m.time_us for m in evaluation.measurements]


def test_a_padded_transposition_through_lds_is_predicted_fastest_on_every_shape() -> None:
    naive = predicted_us("tasks/transpose/seed.hip")
    conflicts = predicted_us("tests/data/kernels/transpose_tile.hip", DOWN=8)
    padded = predicted_us("tests/data/kernels/transpose_tile.hip", DOWN=8, PAD=1)
    columns = predicted_us("tests/data/kernels/transpose_block.hip", ACROSS=256, DOWN=1, READ=1)
    for best, *slower in zip(padded, conflicts, naive, columns, strict=True):
        assert best < 1.05 * min(slower)  # nearer ones are equal within the clock's error


def test_kernels_with_the_same_grid_are_compared_by_the_same_workgroups() -> None:
    case = load_task("transpose").benchmarks[0]
    tiles = [("tests/data/kernels/transpose_tile.hip", {"DOWN": 8, "PAD": pad}) for pad in (0, 1)]
    kernels = [built(path, **tunables) for path, tunables in (*tiles, ("tasks/transpose/seed.hip", {}))]
    first, same, other = (counted_case(LAB, k, case, MI300X, k.compilation.resources).seed for k in kernels)
    assert first == same != other


def test_nobody_without_the_secret_knows_which_workgroups_are_counted() -> None:
    case, kernel = load_task("transpose").benchmarks[0], built("tasks/transpose/seed.hip")
    seeds = {counted_case(LAB, kernel, case, MI300X, kernel.compilation.resources, secret=n).seed for n in range(8)}
    assert len(seeds) == 8
