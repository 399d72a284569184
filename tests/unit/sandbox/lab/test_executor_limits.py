from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.executor_limits import SHADOW, executor_limits, unwatchable
from sandbox.lab.executor_request import Buffer, Work, lay_out
from tests.support.lab_bench import execute, floats, launch

MIB = 1 << 20
WORK = Work(blocks=(1,), recorded_blocks=0, workers=2, deadline_s=15.0, l1_lines=256, line_bytes=128)


def buffer(role: str, mib: int) -> Buffer:
    return Buffer(f"{role}{mib}", np.zeros(mib * MIB // 4, np.float32), role)


def test_a_small_kernel_has_less_than_a_gibibyte() -> None:
    layout = lay_out([buffer("input", 1), buffer("output", 1)], count=False)
    assert executor_limits(WORK, layout, False).resident_bytes < 1 << 30


def test_memory_grows_with_what_is_written_and_not_with_what_is_read() -> None:
    small = lay_out([buffer("input", 1), buffer("output", 1)], count=False)
    read = lay_out([buffer("input", 65), buffer("output", 1)], count=False)
    buffers_written = lay_out([buffer("input", 1), buffer("output", 65)], count=False)
    of = [executor_limits(WORK, layout, False).resident_bytes for layout in (small, read, buffers_written)]
    assert of[0] == of[1]
    assert of[2] - of[0] == 64 * MIB * SHADOW


def test_workgroups_with_outputs_of_their_own_may_touch_all_of_each() -> None:
    copies = lay_out([buffer("input", 1), *[buffer("output", 64)] * 8], count=False)
    assert executor_limits(WORK, copies, False).resident_bytes > 8 * 64 * MIB * SHADOW


@pytest.mark.parametrize(("mib", "is_refused"), [(100, False), (160, False), (400, True)])
def test_workspaces_may_grow_with_the_buffers(mib: int, is_refused: bool) -> None:
    finding = unwatchable([buffer("input", 8), buffer("output", 8), buffer("workspace", mib)])
    assert (finding is not None) == is_refused
    assert finding is None or (finding.kind == "over_limit" and f"{mib} MiB" in finding.message)


def test_a_workspace_far_larger_than_the_task_is_not_executed() -> None:
    source = "__global__ void k(const float* x, float* y, float* w) { w[0] = x[0]; y[threadIdx.x] = x[threadIdx.x]; }"
    x = floats(64)
    execution = execute(
        source,
        [launch("k", ["x", "y", "w"])],
        {"x": x},
        {"y": np.zeros_like(x)},
        {"w": np.empty(200 * MIB // 4, np.float32)},
    )
    assert [finding.kind for finding in execution.findings] == ["over_limit"]
    assert execution.executed == 0.0
