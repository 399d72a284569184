"""The listings of all shipped seeds and of the example decode whole, every operand in range."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.parse import parse
from sandbox.machine.layout import SCC
from sandbox.machine.program import DecodedProgram, decode_listing
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.image_fields import OperandFields, unpacked

ROOT = Path(__file__).parents[4]
SEEDS = sorted(path for path in ROOT.glob("tasks/*/seed*.hip") if "h200" not in path.name)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(toolchain(), COMPILED, load_target("mi300x"))


def check_operand(operand: OperandFields) -> None:
    end = operand.index + operand.dwords
    assert operand.kind != "v" or end <= 512, operand
    assert operand.kind != "v" or (operand.index < 256) == (end <= 256), operand
    assert operand.kind != "s" or end <= SCC + 1, operand


def check(program: DecodedProgram) -> None:
    count = len(program.instructions)
    assert len(program.places) == len(program.rows) == count
    assert all(0 <= target < count for target in program.targets.values())
    for index, instruction in enumerate(program.instructions):
        found = unpacked(instruction)
        for operand in (*found.results, *found.sources):
            check_operand(operand)
        assert (index in program.targets) == bool(instruction.label)


@pytest.mark.slow
@pytest.mark.parametrize("path", SEEDS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_seed_decodes_whole(compiler: Compiler, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    result = compiler.compile(candidate, candidate.defaults(), is_assembled=False)
    assert result.ok, result.diagnostics
    program = decode_listing(result.listing)
    check(program)
    assert set(program.kernels) == {kernel.symbol for kernel in result.kernels}
    for kernel in result.kernels:
        decoded = program.kernels[kernel.symbol]
        assert (decoded.lds_bytes, decoded.scratch_bytes) == (kernel.lds_bytes, kernel.scratch_bytes)
        assert decoded.max_workgroup_size == kernel.max_block
        explicit = [a for a in decoded.arguments if not a.value_kind.startswith("hidden_")]
        assert [(a.offset, a.size) for a in explicit] == [(a.offset, a.size) for a in kernel.args]
    marked = [chain[-1] for chain in program.places if chain and chain[-1][1]]
    assert {file for file, _ in marked} == {"candidate.hip"}
