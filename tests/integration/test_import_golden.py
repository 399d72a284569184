"""Functions that cannot be traced become tasks of recorded answers, which say how weak they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from app.cli import run_command
from tasks.loader import load_task

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="the extra `torch` is not installed")
SHIFTED = """
import torch
rows = 200
cols = 60
def shifted(x, scale):
    return torch.stack([row * scale if row.max().item() > 0.5 else row - scale for row in x])
def get_inputs():
    return [torch.randn(rows, cols), torch.rand(cols) + 0.5]
"""
PLAN = """/*+++
[[launch]]
kernel = "shifted"
grid = ["rows"]
block = [64]
args = ["x", "scale", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void shifted(const float* x, const float* scale, float* y, int cols) {
    const float* row = x + (long)blockIdx.x * cols;
    float top = -INFINITY;
    for (int j = 0; j < cols; ++j) top = fmaxf(top, row[j]);
    for (int j = threadIdx.x; j < cols; j += 64)
        y[(long)blockIdx.x * cols + j] = top > 0.5f ? row[j] * scale[j] : row[j] - scale[j];
}
"""
BAD = {
    "chance": ("return x * torch.rand(1)", "differs from call to call"),
    "narrow": ("return (x.float() * scale.float()) if x.max().item() > 9 else x.float() - scale.float()", "float32"),
    "nothing": ("return [row.max().item() for row in x]", "returns float, where tensors are expected"),
    "zeros": ("return x * 0 if x.max().item() > -99 else x", "could not tell right kernels from wrong ones"),
}


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_torch
def test_answers_are_recorded_and_judge_kernels(workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workdir / "shifted.py").write_text(SHIFTED)
    assert run_command(["tasks", "new", "plain", "--from", "shifted.py:shifted"]) == 2
    assert "depend on the values of its inputs" in capsys.readouterr().err
    assert run_command(["tasks", "new", "kept", "--from", "shifted.py:shifted", "--golden"]) == 0
    assert "golden: 8 recorded draws" in capsys.readouterr().out
    assert "golden: 8 recorded draws" in (workdir / "kept/README.md").read_text()
    task = load_task(workdir / "kept")
    assert task.golden is not None and task.golden.draws == 8 and "row.max()" in task.description
    for text, code in (
        (PLAN, 0),
        (PLAN.replace("top > 0.5f", "row[0] > 0.5f"), 1),
        (PLAN.replace("j = 0", "j = 1"), 1),
    ):
        (workdir / "k.hip").write_text(text)
        assert run_command(["check", "k.hip", "--task", "./kept"]) == code
        assert "a kernel could recognise its inputs" in capsys.readouterr().out


@needs_torch
@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sound_task_is_one_sentence(workdir: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    body, message = BAD[name]
    head, _, tail = SHIFTED.partition("    return torch.stack")
    (workdir / "f.py").write_text(f"{head}    {body}\n{tail.partition(chr(10))[2]}")
    assert run_command(["tasks", "new", "t", "--from", "f.py:shifted", "--golden"]) == 2
    assert message in capsys.readouterr().err and not (workdir / "t").exists()
