"""Our SwiGLU with FP8 is right on the task's small cases, and a fault in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.devices import target_of
from benchmarks.clock.families.swiglu_fp8 import points
from benchmarks.clock.judged import PointLab


@pytest.mark.slow
def test_our_kernel_is_right_and_one_without_the_scale_is_not(tmp_path: Path) -> None:
    lab, point = PointLab(target_of("MI300X")), points(tmp_path)[0]
    code = point.kernel.read_text()
    assert lab.fault(code, point.task) == ""
    assert code.count("1.0f / scale[0]") == 1
    assert "y" in lab.fault(code.replace("1.0f / scale[0]", "1.0f"), point.task)
