"""Predictions for whole tasks: that they order what is known to be ordered."""

from __future__ import annotations

from pathlib import Path

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_verify import Built
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.predict import predict
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain

ROOT = Path(__file__).parents[4]
MI300X = load_target("mi300x")


def predicted_us(path: str, **tunables: int) -> list[float]:
    """The predicted times of the transposition's benchmark cases."""
    lab, compiler = MachineLab(toolchain(), COMPILED, MI300X, cores=2), Compiler(toolchain(), COMPILED, MI300X)
    prepared = prepare((ROOT / path).read_text(encoding="utf-8"), load_task("transpose"), tunables)
    candidate, chosen = prepared.candidate, prepared.tunables
    program, compiled = lab.build(candidate, chosen), compiler.compile(candidate, chosen)
    assert isinstance(program, LabProgram) and compiled.ok
    found = predict(lab, Built(prepared, compiled, program), MI300X, compiled.resources)
    assert found.findings == ()
    return [m.time_us for m in found.measurements]


def test_a_padded_transposition_through_lds_is_predicted_fastest_on_every_shape() -> None:
    naive = predicted_us("tasks/transpose/seed.hip")
    conflicts = predicted_us("benchmarks/kernels/transpose_tile.hip", DOWN=8)
    padded = predicted_us("benchmarks/kernels/transpose_tile.hip", DOWN=8, PAD=1)
    columns = predicted_us("benchmarks/kernels/transpose_block.hip", ACROSS=256, DOWN=1, READ=1)
    for best, *others in zip(padded, conflicts, naive, columns, strict=True):
        assert best < 1.05 * min(others)  # nearer ones are equal within the clock's error
