"""Task folders of robust-kbench of our own."""

from __future__ import annotations

import json
from pathlib import Path

FUNCTION = '''import torch
import torch.nn as nn


def forward_fn(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalises rows."""
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


class Model(nn.Module):
    def __init__(self, cols: int = 256, init_method: str = "ones"):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(cols) if init_method == "ones" else torch.randn(cols))
        self.bias = nn.Parameter(torch.zeros(cols))

    def forward(self, x: torch.Tensor, fn=forward_fn) -> torch.Tensor:
        return fn(x, self.weight, self.bias)


def get_inputs(rows: int = 64, cols: int = 256):
    return [torch.randn(rows, cols)]


input_names = ["x"]
'''
CONFIG = {
    "single_input_configs": [{"rows": 128}],
    "single_init_configs": [{}],
    "single_shared_configs": [{"cols": 512}],
    "multi_input_configs": [{"rows": 128}, {"rows": 1024}],
    "multi_init_configs": [{"init_method": "ones"}, {"init_method": "random"}],
    "multi_shared_configs": [{"cols": 256}, {"cols": 1024}],
}
GATED = """import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x: torch.Tensor, gate_proj: torch.Tensor, up_proj: torch.Tensor, slope: float) -> torch.Tensor:
    return F.leaky_relu(F.linear(x, gate_proj), slope) * F.linear(x, up_proj)


class Model(nn.Module):
    def __init__(self, features: int = 64, inner: int = 128, slope: float = 0.125):
        super().__init__()
        gate, up = nn.Linear(features, inner), nn.Linear(features, inner)
        self.gate_proj = nn.Parameter(gate.weight.data.clone())
        self.up_proj = nn.Parameter(up.weight.data.clone())
        self.slope = slope

    def forward(self, x: torch.Tensor, fn=forward_fn) -> torch.Tensor:
        return fn(x, self.gate_proj, self.up_proj, self.slope)


def get_inputs(batch: int = 4, tokens: int = 64, features: int = 64):
    return [torch.randn(batch, tokens, features)]


input_names = ["x"]
"""
CLASSES = """import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores, targets, reduction="mean")


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, scores, targets, fn=forward_fn):
        return fn(scores, targets)


def get_inputs(batch: int = 64, classes: int = 10):
    return [torch.randn(batch, classes), torch.randint(0, classes, (batch,))]


input_names = ["scores", "targets"]
"""
LINEAR = """import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
    return F.relu(F.linear(x, weights, biases))


class Model(nn.Module):
    def __init__(self, features: int = 128, units: int = 64, init_method: str = "normal"):
        super().__init__()
        linear = nn.Linear(features, units)
        if init_method == "xavier":
            nn.init.xavier_normal_(linear.weight)
        elif init_method == "normal":
            nn.init.normal_(linear.weight)
        self.weights = nn.Parameter(linear.weight.data.clone())
        self.biases = nn.Parameter(linear.bias.data.clone())

    def forward(self, x: torch.Tensor, fn=forward_fn) -> torch.Tensor:
        return fn(x, self.weights, self.biases)


def get_inputs(batch: int = 16, features: int = 128):
    return [torch.randn(batch, features)]


input_names = ["x"]
"""
CONVOLVED = """import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stride: int, padding: int) -> torch.Tensor:
    return F.max_pool2d(F.relu(F.conv2d(x, weight, bias, stride=stride, padding=padding)), 2)


class Model(nn.Module):
    def __init__(self, channels: int = 3, filters: int = 8, kernel_size: int = 3, stride: int = 1, padding: int = 1):
        super().__init__()
        conv = nn.Conv2d(channels, filters, kernel_size)
        self.weight = nn.Parameter(conv.weight.data.clone())
        self.bias = nn.Parameter(conv.bias.data.clone())
        self.stride, self.padding = stride, padding

    def forward(self, x: torch.Tensor, fn=forward_fn) -> torch.Tensor:
        return fn(x, self.weight, self.bias, self.stride, self.padding)


def get_inputs(batch: int = 4, channels: int = 3, height: int = 32, width: int = 32):
    return [torch.randn(batch, channels, height, width)]


input_names = ["x"]
"""


def _config(single: list[dict[str, object]], multi: list[list[dict[str, object]]]) -> dict[str, object]:
    """Of one configuration's inputs, constructor and shared values, and of several."""
    roles = ("input", "init", "shared")
    config: dict[str, object] = {f"single_{role}_configs": [values] for role, values in zip(roles, single, strict=True)}
    return config | {f"multi_{role}_configs": values for role, values in zip(roles, multi, strict=True)}


FOLDERS = {
    "rows": (FUNCTION, CONFIG),
    "gated": (  # inputs of 4 GiB in its largest case, which an import has no memory for
        GATED,
        _config(
            [{"batch": 2, "tokens": 128}, {"inner": 256}, {"features": 64}],
            [[{"batch": 1024, "tokens": 1024}], [{"inner": 256, "slope": 0.25}, {}], [{"features": 1024}]],
        ),
    ),
    "classes": (
        CLASSES,
        _config([{"batch": 64, "classes": 10}, {}, {}], [[{"batch": 4096, "classes": 100}, {}], [{}], [{}]]),
    ),
    "linear": (
        LINEAR,
        _config(
            [{"batch": 64}, {"units": 10}, {"features": 128}],
            [[{"batch": 64}, {"batch": 4}], [{"init_method": "xavier"}, {"units": 512}], [{"features": 256}]],
        ),
    ),
    "convolved": (
        CONVOLVED,
        _config(
            [{"batch": 64, "height": 28, "width": 28}, {"filters": 32}, {"channels": 1}],
            [[{"batch": 64, "height": 14, "width": 14}], [{"filters": 32}, {"filters": 64}], [{"channels": 1}]],
        ),
    ),
}


def write_robust(folder: Path, function: str = FUNCTION, config: object = CONFIG) -> Path:
    """The folder, with two files."""
    folder.mkdir(parents=True)
    (folder / "func_forward.py").write_text(function)
    (folder / "config_forward.json").write_text(config if isinstance(config, str) else json.dumps(config, indent=1))
    return folder
