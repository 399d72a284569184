"""A small model: two layers of a norm with its residual and a gated product."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROWS, WIDTH, HIDDEN, LAYERS = 16, 128, 256, 2


class Layer(nn.Module):  # type: ignore[misc]
    """Adds the residual, normalises, and computes a gated product."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(WIDTH))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values and the residual of the next layer."""
        r = x + r
        wide = r.float()
        h = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight).to(torch.bfloat16)
        return self.down(F.silu(self.gate(h)) * self.up(h)), r


class Block(nn.Module):  # type: ignore[misc]
    """The layers one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.to(torch.bfloat16)

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        """Compute the model."""
        for layer in self.layers:
            x, r = layer(x, r)
        return x + r


def get_inputs() -> list[Tensor]:
    """Draw the inputs."""
    return [torch.randn(ROWS, WIDTH).bfloat16(), torch.randn(ROWS, WIDTH).bfloat16()]
