"""Accesses through a descriptor at the end of its range: each word is inside or outside by itself."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, launch

COPY = """
typedef unsigned words __attribute__((ext_vector_type(4)));
__global__ void k(const unsigned* x, unsigned* y, int n) {
    auto in = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, 4 * n, 0x00027000);
    auto out = __builtin_amdgcn_make_buffer_rsrc(y, 0, 4 * n, 0x00027000);
    const int at = 16 * threadIdx.x;
    words v = __builtin_bit_cast(words, __builtin_amdgcn_raw_buffer_load_b128(in, at, 0, 0));
    __builtin_amdgcn_raw_buffer_store_b128(v + 1, out, at, 0, 0);
}"""


@pytest.mark.parametrize("count", [1, 3, 4, 6, 255, 300])
def test_the_words_inside_are_moved(count: int) -> None:
    lab = MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=1)
    plan = ResolvedPlan((launch("k", ["x", "y", count]),), {})
    text = Plan((Launch("k", ("1",), ("1",), "0", ("a", "a", "n"), 1),))
    program = lab.build(Candidate("buffer_range", HEAD + COPY, text), {})
    assert isinstance(program, LabProgram), program
    x = np.arange(300, dtype=np.uint32)
    buffers = (Buffer("x", x[:count], "input"), Buffer("y", np.zeros(300, np.uint32), "output"))
    execution = lab.execute(ExecutionRequest(program, plan, buffers, deadline_s=20))
    assert execution.findings == ()
    moved = min(count, 256)
    assert execution.masks["y"].tolist() == [True] * moved + [False] * (300 - moved)
    assert (execution.outputs["y"][:moved] == x[:moved] + 1).all()
