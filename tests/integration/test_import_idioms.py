"""Ways in which people write PyTorch: what a file compiles, overwrites, returns or has made already."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from app.imports.confined import imported_all
from app.imports.readers import ImportPlace, form_of
from app.settings import load_settings
from app.task_folders import task_cage
from tasks.linter import lint
from tasks.loader import load_task

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra `torch` is not installed")
HEAD = "import torch\nimport torch.nn as nn\nrows, cols = 96, 80\n"
IDIOMS = {
    "step": """
class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.relu(x) ** 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * torch.relu(x) * g

@torch.compile(mode="max-autotune")
def step(x, w):
    return Squared.apply(x) * w

def get_inputs():
    return [torch.randn(rows, cols), torch.randn(cols)]
""",
    "update": """
def update(x, residual, w):
    residual.add_(x)
    x.copy_(residual * w)

def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols), torch.randn(cols)]
""",
    "made": """
model = nn.Sequential(nn.Conv1d(3, 4, 3), nn.AdaptiveAvgPool1d(5))

def get_inputs():
    return [torch.randn(rows, 3, cols)]
""",
    "cell": """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(cols, cols)

    def forward(self, x, h, c):
        return self.cell(x, (h, c)), None

def get_inputs():
    return [torch.randn(rows, cols) for _ in range(3)]

def get_init_inputs():
    return []
""",
    "cache": """
def cache(kept, new, at):
    kept.index_copy_(0, at // 2 * 2, new)
    return kept

def get_inputs():
    return [torch.randn(rows, cols), torch.randn(8, cols), torch.randperm(rows)[:8]]
""",
    "turned": """
def turned(x):
    return torch.view_as_real(torch.view_as_complex(x.reshape(rows, cols // 2, 2)) * 1j)

def get_inputs():
    return [torch.randn(rows, cols)]
""",
    "idle": """
def idle(x):
    x + 1

def get_inputs():
    return [torch.randn(rows, cols)]
""",
    "nothing": """
def nothing(x):
    return x[:0, 0]

def get_inputs():
    return [torch.randn(rows, cols)]
""",
}
FIXED = {  # a definition of FlashInfer-Bench whose axes are constants, so that it needs no workload
    "name": "fixed",
    "op_type": "op",
    "axes": {"m": {"type": "const", "value": 96}, "n": {"type": "const", "value": 80}},
    "inputs": {"x": {"shape": ["m", "n"], "dtype": "float32"}, "w": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["m", "n"], "dtype": "float32"}},
    "reference": "def run(x, w):\n    return x * w\n",
}
OUTPUTS = {
    "fixed": {"y": ""},
    "step": {"y": ""},
    "update": {"new_x": "x", "new_residual": "residual"},
    "made": {"y": ""},
    "cell": {"y0": "", "y1": ""},
    "cache": {"new_kept": "kept"},
}
REFUSED = {  # by how the sentences begin
    "turned": "it computes in torch.complex64, and tasks have no such type",
    "nothing": "it makes no task: task.toml: the shape of 'y' is 0",
    "idle": "it returns nothing and writes into none of its inputs",
}


@needs_torch
@pytest.mark.long
def test_each_becomes_a_task_or_one_true_sentence(tmp_path: Path) -> None:
    requests: list[dict[str, Any]] = []
    texts = {f"{name}.py": HEAD + text for name, text in IDIOMS.items()} | {"fixed.json": json.dumps(FIXED)}
    for name, text in texts.items():
        place = ImportPlace(tmp_path / name)
        place.path.write_text(text)
        form = form_of(place)
        found = form.gather(place)
        origin = {"source": found.shown, "form": form.form, "digest": found.digest}
        requests.append({**found.request(place.path.stem, "", {}, {}), "origin": origin, "gate": form.gate})
    made = dict(zip([*IDIOMS, "fixed"], imported_all(requests, task_cage(load_settings())), strict=True))
    refused = {name: one.split(" cannot become a task: ")[1] for name, one in made.items() if isinstance(one, str)}
    assert {n: REFUSED[n] if said.startswith(REFUSED[n]) else said for n, said in refused.items()} == REFUSED
    for name, outputs in OUTPUTS.items():
        for file, content in made[name].files.items():  # type: ignore[union-attr]
            (tmp_path / name / file).parent.mkdir(exist_ok=True)
            (tmp_path / name / file).write_bytes(content)
        task = load_task(tmp_path / name)
        assert lint(task) == () and (tmp_path / name / "seed.hip").exists()
        assert {t.name: t.initial for t in task.outputs} == outputs
        assert ("the last one stays" in task.description) is (name == "cache")
