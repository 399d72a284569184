"""A small model whose regions shipped tasks compute: the RMS norm of each row, and GELU behind a bias."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

ROWS, COLS, WIDE = 3, 64, 64


class Block(nn.Module):
    """A norm, a product, and an activation behind a bias."""

    def __init__(self, wide: int = WIDE) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(COLS, dtype=torch.bfloat16))
        self.product = nn.Linear(COLS, wide, bias=False, dtype=torch.bfloat16)
        self.bias = nn.Parameter(torch.zeros(wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        normed = (wide * scale * self.weight).to(torch.bfloat16)
        return functional.gelu(self.product(normed).float() + self.bias, approximate="tanh")


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLS).bfloat16()]
