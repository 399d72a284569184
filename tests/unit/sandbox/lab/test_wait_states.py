"""What a finding says of two instructions that are too close together, and of a scalar store that is lost."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sandbox.lab.wait_states import RULES
from tests.support.lab_bench import execute, launch, marked_line

HEADER = Path(__file__).parents[4] / "sandbox" / "machine" / "interpreter" / "wait_states.h"
RECIPROCAL = """
__global__ void k(const float* x, float* y) {{
    float v = x[threadIdx.x];
    asm("v_rcp_f32 %0, %0\\n {pause} v_mul_f32 %0, 2.0, %0" : "+v"(v)); // here
    y[threadIdx.x] = v;
}}"""
STORE = """
__global__ void k(const float* x, float* y) {{
    if (threadIdx.x < 64) y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    asm volatile("s_store_dword %0, %1, 0x0\\n {back} s_waitcnt lgkmcnt(0)" : : "s"(0x40000000), "s"(y)); // here
}}"""


@pytest.mark.parametrize("states", [0, 1])
def test_inline_assembly_that_comes_too_soon_is_a_hazard(states: int) -> None:
    source = RECIPROCAL.format(pause="s_nop 0\\n" if states else "")
    x = np.arange(1, 65, dtype=np.float32)
    execution = execute(source, [launch("k", ["x", "y"])], {"x": x}, {"y": x.copy()})
    if states:
        assert execution.findings == () and np.allclose(execution.outputs["y"], 2 / x)
        return
    line = marked_line(source)
    assert [(f.kind, f.line) for f in execution.findings] == [("hazard", line)]
    message = execution.findings[0].message
    assert f"v_mul_f32 reads the result of v_rcp_f32 in line {line}, too soon" in message
    assert "put s_nop 0 before it" in message


@pytest.mark.parametrize("back", ["s_dcache_wb\\n", ""])
def test_a_scalar_store_is_written_back_or_lost(back: str) -> None:
    source = STORE.format(back=back)
    x = np.arange(1, 65, dtype=np.float32)
    execution = execute(source, [launch("k", ["x", "y"])], {"x": x}, {"y": x.copy()})
    if back:
        assert execution.findings == () and execution.outputs["y"][0] == 2
    else:
        assert [f.kind for f in execution.findings] == ["missing_wait"]
        assert f"scalar store in line {marked_line(source)}" in execution.findings[0].message


def test_each_rule_of_the_interpreter_has_its_words() -> None:
    body = re.search(r"enum class Rule : uint8_t \{(.*?)\};", HEADER.read_text(encoding="utf-8"), re.S)
    assert body and len(re.findall(r"^\s*\w+,", body[1], re.M)) == len(RULES)
