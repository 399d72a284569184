"""Our atomic updates count what the same generator draws in NumPy, and additions that are not atomic are a race."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.devices import target_of
from benchmarks.clock.families.atomic_updates import points
from benchmarks.clock.judged import PointLab


@pytest.mark.slow
def test_our_kernel_counts_and_one_that_forgets_to_be_atomic_does_not(tmp_path: Path) -> None:
    lab, point = PointLab(target_of("MI300A")), points(tmp_path)[0]
    code = point.kernel.read_text()
    assert lab.fault(code, point.task) == ""
    plain = code.replace("atomicAdd_system(table + drawn % size, 1ull)", "table[drawn % size] += 1ull")
    assert plain != code and lab.fault(plain, point.task)
