"""A point's kernel in the lab: a right one has no fault and a time, others say in one sentence what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.devices import target_of
from benchmarks.clock.judged import PointLab
from benchmarks.clock.points import Point
from records.errors import UsageError

TASK = """name = "twice"
title = "Twice each element"
description = "y[i] = 2 * x[i]"
targets = ["mi300x"]
[[input]]
name = "x"
dtype = "f32"
shape = ["n"]
[[output]]
name = "y"
dtype = "f32"
shape = ["n"]
[[test]]
n = 300
[[benchmark]]
n = 65536
[work]
flops = "n"
bytes = "8 * n"
[tolerance]
ratio = 2.0
"""
REFERENCE = """import numpy as np
def make_inputs(case, rng):
    return {"x": rng.standard_normal(case.dims["n"]).astype(np.float32)}
def reference(inputs, case):
    return {"y": 2.0 * inputs["x"].astype(np.float64)}
def baseline(inputs, case):
    return {"y": 2 * inputs["x"]}
"""
KERNEL = """/*+++
[[launch]]
kernel = "twice"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n"]
+++*/
#include <hip/hip_runtime.h>
__global__ void twice(const float* x, float* y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""


def made(folder: Path, kernel: str = KERNEL) -> Point:
    """A point whose task and kernel lie in the folder."""
    (folder / "task.toml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "kernel.hip").write_text(kernel)
    dims = {"n": 65536}
    return Point("made_up", "MI300X", "twice", dims, "f32", 1.0, "warm", folder, folder / "kernel.hip", "nobody")


@pytest.mark.slow
def test_a_right_kernel_has_no_fault_and_a_time(tmp_path: Path) -> None:
    lab, point = PointLab(target_of("MI300X")), made(tmp_path)
    assert lab.fault(KERNEL, point.task) == ""
    answer = lab.predicted(point)
    assert not isinstance(answer, str)
    assert answer.case == "n=65536" and answer.time_us > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2 * x[i]", "3 * x[i]", "y"),
        ("i < n", "i <= n", "x[300]"),
        ("const float* x", "const flout* x", "flout"),
        ('"x", "y", "n"]', '"x", "z", "n"]', "z"),
    ],
)
def test_a_fault_is_told_in_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    wrong = KERNEL.replace(old, new)
    fault = PointLab(target_of("MI300X")).fault(wrong, made(tmp_path, wrong).task)
    assert words in fault and "\n" not in fault


def test_a_device_without_a_target_is_refused() -> None:
    with pytest.raises(UsageError, match="device MI8"):
        target_of("MI8")
