"""A model's file, or its trace, becomes a folder of regions, and a region becomes a task; or a sentence says why."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from app.cli import run_command
from app.settings import load_settings
from app.task_folders import open_sound_task
from records.model_scan import read_pattern, read_scan

DATA = Path(__file__).resolve().parents[1] / "data/models"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra `torch` is not installed")
MODULE = """
import torch
from torch import nn

from parts import ROWS, Gate


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = Gate(), Gate()

    def forward(self, x, y):
        return self.wide(x), self.wide(x + 1), self.narrow(y)


def get_inputs():
    return [torch.randn(ROWS, 512), torch.randn(ROWS, 64)]
"""
PARTS = """
import torch
from torch import nn

ROWS = 96


class Gate(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x) * torch.tanh(x)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler_cache: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    return tmp_path


def test_a_trace_needs_no_pytorch_and_gives_no_tasks(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [{"ph": "X", "cat": "kernel", "name": "Cijk_Ailk", "ts": i, "dur": 2} for i in range(3)]
    (place / "step.json").write_text(json.dumps({"traceEvents": events}))
    assert run_command(["model", "scan", "step.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["times"], answer["regions"][0]["count"]) == ("measured", 3)
    assert (place / "step-scan/index.html").is_file()
    assert run_command(["model", "tasks", "step-scan"]) == 2
    assert "scan the module" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "reason"),
    [("absent.py:M", "is no file"), ("notes.txt", "is no model"), ("cut.json", "cut short"), ("table.csv", "neither")],
)
def test_what_is_no_model_leaves_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], source: str, reason: str
) -> None:
    (place / "notes.txt").write_text("")
    (place / "cut.json").write_text('{"traceEvents": [{"ph": "X"')
    (place / "table.csv").write_text("a,b\n1,2\n")
    assert run_command(["model", "scan", source, "--out", "out"]) == 2
    assert reason in capsys.readouterr().err
    assert not (place / "out").exists()


def test_tasks_are_of_regions_that_are_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(DATA / "rows-scan", place / "rows-scan")
    assert run_command(["model", "tasks", "rows-scan", "--region", "softmax"]) == 2
    assert "it has add_rms_norm" in capsys.readouterr().err
    assert run_command(["model", "tasks", "nowhere"]) == 2
    assert "model scan has written" in capsys.readouterr().err


@needs_torch
@pytest.mark.slow
def test_a_module_of_two_files_becomes_one_task_with_both_shapes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "stack.py").write_text(MODULE)
    (place / "parts.py").write_text(PARTS)
    assert run_command(["model", "scan", "stack.py:Stack", "--target", "h200"]) == 0
    scan = read_scan(place / "Stack-scan")
    assert (scan.device, scan.source, scan.notes) == ("h200", "stack.py:Stack", ())
    names = {r.inputs[0].shape: r.name for r in scan.regions if "aten.tanh.default" in r.operators}
    assert set(names) == {(96, 512), (96, 64)}
    pattern = read_pattern(place / "Stack-scan", names[96, 64])
    assert [node.target for node in pattern.nodes] == ["aten.sigmoid.default", "aten.tanh.default", "aten.mul.Tensor"]
    capsys.readouterr()
    regions = [word for name in names.values() for word in ("--region", name)]
    assert run_command(["model", "tasks", "Stack-scan", *regions, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len({row["task"] for row in rows}) == 1
    task = open_sound_task(load_settings(), rows[0]["task"])
    weights = {case.dims["n1"]: case.weight for case in task.benchmarks}
    assert set(weights) == {512, 64} and weights[512] != weights[64]
