"""Each way to a task with everyday constants and masks: the reference is what double precision gives."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.cli import run_command
from tasks.loader import load_task

Oracle = Callable[..., np.ndarray]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra `torch` is not installed")
TABLE: dict[str, tuple[str, str, Oracle]] = {  # PyTorch, NumPy, and float64
    "fractions": ("(1 / 3) * x * 0.1 + 1e-5", "(1 / 3) * x.copy() * 0.1 + 1e-5", lambda x, m: x / 3 * 0.1 + 1e-5),
    "gelu": (
        "0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))",
        "0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))",
        lambda x, m: 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))),
    ),
    "masked": (
        "torch.where(m, x, -1e9 * torch.ones_like(x))",
        "np.where(m, x, np.float32(-1e9))",
        lambda x, m: np.where(m, x, -1e9),
    ),
}
HIP = """
#include <hip/hip_runtime.h>
#include <vector>
__global__ void blend(const float* in, const int* chosen, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = chosen[i] ? in[i] * 0.1f + 1.0f / 3.0f : -10.0f;
}
int main() {
    const int n = 100000;
    std::vector<float> in(n), y(n);
    std::vector<int> chosen(n);
    float *d_in, *d_out;
    int* d_chosen;
    hipMalloc(&d_in, n * sizeof(float));
    hipMalloc(&d_out, n * sizeof(float));
    hipMalloc(&d_chosen, n * sizeof(int));
    hipMemcpy(d_in, in.data(), n * sizeof(float), hipMemcpyHostToDevice);
    hipMemcpy(d_chosen, chosen.data(), n * sizeof(int), hipMemcpyHostToDevice);
    blend<<<(n + 255) / 256, 256>>>(d_in, d_chosen, d_out, n);
    hipMemcpy(y.data(), d_out, n * sizeof(float), hipMemcpyDeviceToHost);
}
"""
FUNCTION = "import {package}\n\n\ndef f(x: 'f32[rows, cols]', m: 'bool[rows, cols]'):\n    return {body}{touched}\n"
PROBLEM = """
import torch
import torch.nn as nn
rows, cols = 1024, 512
class Model(nn.Module):
    def forward(self, x, m):
        return {body}{touched}
def get_inputs():
    return [torch.randn(rows, cols), torch.randint(0, 2, (rows, cols)).bool()]
def get_init_inputs():
    return []
"""


def made(tmp_path: Path, file: str, text: str, *options: str) -> Path:
    (tmp_path / file).write_text(text)
    folder = tmp_path / "made"
    assert run_command(["tasks", "new", "made", "--from", str(tmp_path / file), "--out", str(folder), *options]) == 0
    return folder


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize(
    "route", ["numpy", pytest.param("torch", marks=needs_torch), pytest.param("problem", marks=needs_torch)]
)
def test_constants_and_masks_are_those_of_double_precision(tmp_path: Path, route: str, name: str) -> None:
    torch_body, numpy_body, oracle = TABLE[name]
    touched = "" if name == "masked" else " + 0.25 * m"  # or nothing would depend on the mask
    sizes = ["--size", "rows=1024,cols=512"]
    if route == "numpy":
        body = numpy_body
        text = FUNCTION.format(package="numpy as np", body=body, touched=touched)
    else:
        text = (PROBLEM if route == "problem" else FUNCTION).format(package="torch", body=torch_body, touched=touched)
    task = load_task(made(tmp_path, "file.py", text, *([] if route == "problem" else sizes)))
    x, m = (task.draw(task.tests[0])[spec.name] for spec in task.inputs)
    (answer,) = task.reference({task.inputs[0].name: x, task.inputs[1].name: m}, task.tests[0]).values()
    right = oracle(x.astype(np.float64), m) + (0.25 * m if touched else 0.0)
    assert answer.dtype == np.float64 and np.allclose(answer, right, rtol=1e-12, atol=1e-12)
    assert [path.name for path in task.seeds][:1] == ["seed.hip"]


def test_a_hip_file_whose_buffer_has_a_word_of_python_for_its_name_becomes_a_task(tmp_path: Path) -> None:
    reference = "import numpy as np\ndef blend(in_, chosen):\n    return np.where(chosen, in_ * 0.1 + 1 / 3, -10)\n"
    (tmp_path / "reference.py").write_text(reference)
    task = load_task(made(tmp_path, "blend.hip", HIP, "--reference", str(tmp_path / "reference.py")))
    inputs = task.draw(task.tests[0])
    x, chosen = (inputs[spec.name] for spec in task.inputs)
    (answer,) = task.reference(inputs, task.tests[0]).values()
    right = np.where(chosen, x.astype(np.float64) * 0.1 + 1 / 3, -10)
    assert np.allclose(answer, right, rtol=1e-12) and task.seeds
