"""A task folder of robust-kbench of our own."""

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


def write_robust(folder: Path, function: str = FUNCTION, config: object = CONFIG) -> Path:
    """The folder, with two files."""
    folder.mkdir(parents=True)
    (folder / "func_forward.py").write_text(function)
    (folder / "config_forward.json").write_text(config if isinstance(config, str) else json.dumps(config, indent=1))
    return folder
