"""Ways in which people write PyTorch: what a file compiles, overwrites, returns or has made already."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from app.settings import load_settings
from app.task_folders import task_cage
from imports.confined import imported_all
from imports.readers import ImportPlace, form_of
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
    return torch.view_as_complex(x.reshape(rows, cols // 2, 2)) * 1j

def get_inputs():
    return [torch.randn(rows, cols)]
""",
    "rotated": """
def rotated(x, angles):
    pairs = torch.view_as_complex(x.reshape(rows, cols // 2, 2))
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(1)

def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols // 2)]
""",
    "bag": """
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(rows, cols, mode="mean")

    def forward(self, at):
        return self.table(at)

def get_inputs():
    return [torch.randint(0, rows, (cols, 4))]
""",
    "layers": """
class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(cols, 24, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(48, 16, bias=False)
        self.rnn = nn.RNN(16, 8, nonlinearity="relu")

    def forward(self, x):
        y, (_, cells) = self.lstm(x)
        return self.rnn(self.gru(y)[0])[1], cells

def get_inputs():
    return [torch.randn(rows, 12, cols)]
""",
    "ordered": """
def ordered(x, labels):
    values, places = x.topk(3)
    return values.sort(0, descending=True)[0], places, x.logcumsumexp(1).max(), x.mean(1) * (labels + 1)

def get_inputs():
    labels = torch.randint(0, 9, (rows,))
    labels[: rows // 4] = -100
    return [torch.randn(rows, cols), labels]
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
WHOLE = {  # files that name no sizes, or that stand by themselves
    "helped": """
import torch
import torch.nn as nn
from dataclasses import dataclass

@dataclass
class Config:
    hidden: int = 48
    eps: float = 1e-6

def halves(x):
    return x.chunk(2, -1)

class Helped(nn.Module):
    def __init__(self, config=Config(), vocabulary=500, places=16):
        super().__init__()
        self.eps, self.table = config.eps, nn.Embedding(vocabulary, config.hidden)
        self.register_buffer("places", torch.arange(places).expand((1, -1)))

    def forward(self, ids):
        one, two = halves(self.table(ids) + 0.01 * self.places[:, : ids.size(1)].unsqueeze(-1))
        return one * torch.sigmoid(two) + self.eps

def get_inputs():
    return [torch.randint(0, 500, (6, 16))]
""",
    "patched": """
import torch
batch, rows, cols, p = 4, 64, 48, 8

def patched(x):
    x = x.reshape(x.shape[0], x.shape[1] // p, p, x.shape[2] // p, p)
    return torch.einsum("nhpwq->nhwpq", x).flatten(3)

def get_inputs():
    return [torch.randn(batch, rows, cols)]
""",
    "looped": """
import torch
rows, steps = 80, 12

def looped(x, decay):
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = decay * state + x[:, t]
        found.append(state)
    return torch.stack(found, 1)

def get_inputs():
    return [torch.randn(rows, steps), torch.rand(rows)]
""",
    "masked": """
import torch
import torch.nn as nn
batch, steps, cols, most = 4, 64, 32, 96

class Masked(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(most, most)).view(1, most, most))

    def forward(self, x):
        seen = self.mask[:, : x.shape[1], : x.shape[1]]
        return (x @ x.transpose(1, 2)).masked_fill(seen == 0, float("-inf")).softmax(-1) @ x

def get_inputs():
    return [torch.randn(batch, steps, cols)]

def get_init_inputs():
    return [most]
""",
    "added": """
import numpy as np
n, groups, cols = 512, 24, 16

def added(x, at):
    found = np.zeros((groups, x.shape[1]), dtype=x.dtype)
    np.add.at(found, at, x)
    return found

def get_inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, cols)).astype(np.float32), rng.integers(0, groups, n)]
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
    "rotated": {"y": ""},
    "bag": {"y": ""},
    "layers": {"y0": "", "y1": ""},
    "ordered": {"y0": "", "y1": "", "y2": "", "y3": ""},
    "helped": {"y": ""},
    "patched": {"y": ""},
    "looped": {"y": ""},
    "added": {"y": ""},
    "masked": {"y": ""},
}
SEEDLESS = ("rotated", "layers")
DIMS = {
    "masked": {"batch", "steps", "cols"},
    "helped": {"n0", "places", "vocabulary", "hidden"},
    "patched": {"batch", "rows", "cols"},
    "looped": {"rows"},
}
REFUSED = {  # by how the sentences begin
    "turned": "its y holds complex numbers, and tasks have no such type",
    "nothing": "it makes no task: task.toml: the shape of 'y' is 0",
    "idle": "it returns nothing and writes into none of its inputs",
}


@needs_torch
@pytest.mark.long
def test_each_becomes_a_task_or_one_true_sentence(tmp_path: Path) -> None:
    requests: list[dict[str, Any]] = []
    texts = {f"{name}.py": text for name, text in {**{n: HEAD + t for n, t in IDIOMS.items()}, **WHOLE}.items()}
    texts |= {"fixed.json": json.dumps(FIXED)}
    for name, text in texts.items():
        location = ImportPlace(tmp_path / name)
        location.path.write_text(text)
        form = form_of(location)
        gathered = form.gather(location)
        origin = {"source": gathered.shown, "form": form.form, "digest": gathered.digest}
        requests.append({**gathered.request(location.path.stem, "", {}, {}), "origin": origin, "gate": form.gate})
    outcomes = dict(zip([*IDIOMS, *WHOLE, "fixed"], imported_all(requests, task_cage(load_settings())), strict=True))
    refused = {n: text.split(" cannot become a task: ")[1] for n, text in outcomes.items() if isinstance(text, str)}
    assert {
        n: REFUSED[n] if message.startswith(REFUSED.get(n, "?")) else message for n, message in refused.items()
    } == REFUSED
    for name, outputs in OUTPUTS.items():
        for file, content in outcomes[name].files.items():  # type: ignore[union-attr]
            (tmp_path / name / file).parent.mkdir(exist_ok=True)
            (tmp_path / name / file).write_bytes(content)
        task = load_task(tmp_path / name)
        assert lint(task) == () and (tmp_path / name / "seed.hip").exists() is (name not in SEEDLESS)
        assert set(task.tests[0].dims) == DIMS.get(name, set(task.tests[0].dims))
        assert {t.name: t.initial for t in task.outputs} == outputs
        assert ("the last one stays" in task.description) is (name == "cache")
