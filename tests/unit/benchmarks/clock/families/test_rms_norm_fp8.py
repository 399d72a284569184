"""Our RMS norm with FP8 is right on small cases with each number of work-items, and a fault in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.devices import target_of
from benchmarks.clock.families.rms_norm_fp8 import points
from benchmarks.clock.judged import PointLab


@pytest.mark.slow
def test_our_kernel_is_right_with_each_number_of_work_items(tmp_path: Path) -> None:
    lab, kernels = PointLab(target_of("MI300X")), {p.kernel: p for p in points(tmp_path)}
    assert len(kernels) == 3
    for kernel, point in kernels.items():
        assert lab.fault(kernel.read_text(), point.task) == ""
    kernel, point = next(iter(kernels.items()))
    wrong = kernel.read_text().replace("b.v[e] + a.v[e]", "b.v[e] - a.v[e]")
    assert wrong != kernel.read_text()
    assert lab.fault(wrong, point.task)
