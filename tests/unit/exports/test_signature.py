"""Outputs in place, strides, inputs left out and scalars of each call reach the forms that have a way for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from exports.flashinfer_trace import flashinfer_trace
from exports.gpumode_submission import gpumode_submission
from exports.hip_project import hip_project
from exports.kernelbench_model import kernelbench_model
from exports.robust_kbench import robust_kbench
from exports.torch_module import torch_module
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from tests.support.exports import KNOWN, operator

MANIFEST = """
name = "axpy"
title = "A scaled sum in place"
description = "y = alpha * x + y + bias; x lies in a wider buffer."
targets = ["mi300x", "h200"]
[[input]]
name = "x"
dtype = "f32"
shape = ["rows", "cols"]
strides = ["cols + 3", "1"]
[[input]]
name = "y0"
dtype = "f32"
shape = ["rows", "cols"]
[[input]]
name = "bias"
dtype = "f32"
shape = ["cols"]
optional = true
[[output]]
name = "y"
dtype = "f32"
shape = ["rows", "cols"]
initial = "y0"
[scalars]
alpha = { dtype = "f32" }
[[test]]
rows = 3
cols = 5
alpha = 2.5
[[test]]
rows = 4
cols = 70
alpha = -0.5
absent = ["bias"]
[[benchmark]]
rows = 64
cols = 512
alpha = 1.5
[work]
flops = "3 * rows * cols"
bytes = "12 * rows * cols"
[tolerance]
ratio = 2.0
"""
REFERENCE = """
import numpy as np


def make_inputs(case, rng):
    rows, cols = case.dims["rows"], case.dims["cols"]
    shapes = {"x": (rows, cols), "y0": (rows, cols), "bias": (cols,)}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def reference(inputs, case):
    wide = {name: x.astype(np.float64) for name, x in inputs.items()}
    return {"y": case.scalars["alpha"] * wide["x"] + wide["y0"] + wide.get("bias", 0.0)}


def baseline(inputs, case):
    return {"y": np.float32(case.scalars["alpha"]) * inputs["x"] + inputs["y0"] + inputs.get("bias", np.float32(0))}
"""
SOURCE = """/*+++
[[launch]]
kernel = "axpy"
grid = ["rows"]
block = [64]
args = ["x", "y", "bias", "cols", "alpha"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void axpy(const float* x, float* y, const float* bias, int cols, float alpha) {
    for (int j = threadIdx.x; j < cols; j += 64)
        y[blockIdx.x * cols + j] += alpha * x[blockIdx.x * (cols + 3) + j] + (bias ? bias[j] : 0.0f);
}
"""


@pytest.fixture
def axpy(tmp_path: Path) -> TorchOperator:
    return _operator(tmp_path, MANIFEST)


def _operator(folder: Path, manifest: str) -> TorchOperator:
    (folder / "task.toml").write_text(manifest, encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    return operator(str(folder), "h200", SOURCE)


def test_a_library_takes_them_as_they_are(axpy: TorchOperator) -> None:
    files = {n: c.decode("latin-1") for n, c in hip_project(axpy.launcher, axpy.target, KNOWN).items()}
    head, program = files["axpy.h"], files["self_check.cu"]
    parameters = "const void* x, const void* bias, void* y, long long rows, long long cols, double alpha"
    assert f"axpy_launch({parameters}, void* scratch" in head
    assert "x by cols + 3 and 1 elements" in head and "bias may be null" in head and "it begins as y0" in head
    assert 'read(folder + "/case0.y0", y)' in program and "axpy_launch(x_gpu, nullptr, y_gpu, 4ll, 70ll" in program
    assert "Bytes x(84, 0xa5)" in program and "static_cast<float>(alpha)" in files["axpy.cu"]  # 2 rows of 8, then 5


def test_a_module_returns_what_is_updated_and_leaves_its_argument(axpy: TorchOperator) -> None:
    text = torch_module(axpy, KNOWN)
    assert "axpy(Tensor x, Tensor y0, Tensor? bias, float alpha) -> Tensor" in text
    assert "x: torch.Tensor, y0: torch.Tensor, bias: torch.Tensor | None, alpha: float" in text
    assert "at::Tensor y = y0.clone(at::MemoryFormat::Preserve);" in text and "x.stride(0) == (cols + 3ll)" in text
    assert "bias.has_value() ? bias->data_ptr() : nullptr" in text and "x.is_contiguous()" not in text
    compile(text, "axpy.py", "exec")


@pytest.mark.parametrize("write", [kernelbench_model, robust_kbench, flashinfer_trace, gpumode_submission])
def test_a_form_without_a_way_says_so(axpy: TorchOperator, write: object) -> None:
    assert callable(write)
    with pytest.raises(UsageError, match=r"has no way for (inputs|scalars).*export it --as torch or --as hip"):
        write(axpy, KNOWN)


def test_a_submission_updates_the_boards_own_tensor(tmp_path: Path) -> None:
    plain = MANIFEST.replace("optional = true\n", "").replace('absent = ["bias"]\n', "")
    plain = plain.replace('{ dtype = "f32" }', '{ dtype = "f32", value = 2.5 }').replace("alpha = -0.5\n", "")
    text = gpumode_submission(_operator(tmp_path, plain.replace("alpha = 1.5\n", "")), KNOWN)
    assert "x, y0, bias, = given_\n" in text and "COMPILED.axpy_into(x, bias, y0)" in text and "return y0" in text
