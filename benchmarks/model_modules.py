"""Modules with random bf16 weights, and the regions of each that a kernel of ours computes.

Each region is written as a function, as people write it, so that its pattern is traced and never spelled out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

EPS = 1e-6
Size = Mapping[str, int]


def add_rms_norm(x: Any, r: Any, w: Any) -> tuple[Any, Any]:
    """Add a residual and normalise the rows."""
    s = x + r
    wide = s.float()
    return s, (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS) * w).to(torch.bfloat16)


def swiglu(g: Any, u: Any) -> Any:
    """Activate one half and multiply by the other."""
    return F.silu(g) * u


def int8_linear(x: Any, w: Any, scale: Any) -> Any:
    """Multiply by weights of eight bits with a scale a row."""
    return F.linear(x, w.to(torch.bfloat16) * scale[:, None])


def vocabulary_softmax(x: Any) -> Any:
    """Compute the probabilities at a temperature of 0.8."""
    return torch.softmax(x.float() * 1.25, dim=-1)


def biased_softmax(x: Any, bias: Any) -> Any:
    """Compute attention weights with a bias."""
    return torch.softmax(x.float() * 0.125 + bias, dim=-1).to(torch.bfloat16)


@dataclass(frozen=True)
class PlacedRegion:
    """A region of a module: its task, the sizes with which it occurs, and its function."""

    name: str
    task: str
    dims: Size
    function: Callable[..., Any]


@dataclass(frozen=True)
class BenchmarkModule:
    """A module, a draw of its inputs, and its regions."""

    name: str
    make: Callable[[], nn.Module]
    draw: Callable[[int], Sequence[Any]]
    regions: tuple[PlacedRegion, ...]


class DecoderBlock(nn.Module):  # type: ignore[misc]
    """Attention and a gated product, each behind an RMS norm."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = (nn.Parameter(1 + 0.1 * torch.randn(width)) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Any, r: Any) -> Any:
        """Return the values and the residual of the next block."""
        r, h = add_rms_norm(x, r, self.first)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(0, 1)[None] for t in self.qkv(h).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        r, h = add_rms_norm(self.out(y[0].transpose(0, 1).flatten(1)), r, self.second)
        return self.down(swiglu(self.gate(h), self.up(h))), r


class GatedMlp(nn.Module):  # type: ignore[misc]
    """A norm with its residual and a gated product of small width."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = nn.Parameter(1 + 0.1 * torch.randn(width))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Any, r: Any) -> Any:
        """Return the values and the residual."""
        r, h = add_rms_norm(x, r, self.norm)
        return self.down(swiglu(self.gate(h), self.up(h))), r


class BiasedAttention(nn.Module):  # type: ignore[misc]
    """An encoder's attention with a learned bias for each pair of places."""

    def __init__(self, length: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.randn(heads * length, length))

    def forward(self, x: Any) -> Any:
        """Attend."""
        batch, length = x.shape[:2]
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(-1, -2)).reshape(batch, self.heads * length, length)
        weights = biased_softmax(scores, self.bias).reshape(batch, self.heads, length, length)
        return self.out(torch.matmul(weights, v).transpose(1, 2).flatten(2))


class Sampler(nn.Module):  # type: ignore[misc]
    """The next token by the exponential race: the largest quotient of a probability and its noise."""

    def forward(self, logits: Any, noise: Any) -> Any:
        """Return probabilities and tokens."""
        probabilities = vocabulary_softmax(logits)
        return probabilities, torch.argmax(probabilities / noise, dim=-1)


class Int8Mlp(nn.Module):  # type: ignore[misc]
    """A gated product with weights of eight bits, as it decodes a few tokens."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        for name, (rows, columns) in {"gate": (hidden, width), "up": (hidden, width), "down": (width, hidden)}.items():
            self.register_buffer(name, torch.randint(-127, 128, (rows, columns), dtype=torch.int8))
            self.register_buffer(f"{name}_scale", 1e-4 * (1 + torch.rand(rows)))

    def forward(self, x: Any) -> Any:
        """Compute the product."""
        gate, up = int8_linear(x, self.gate, self.gate_scale), int8_linear(x, self.up, self.up_scale)
        return int8_linear(swiglu(gate, up), self.down, self.down_scale)


def modules(scale: int = 1) -> tuple[BenchmarkModule, ...]:
    """List the modules; with `scale` above 1 all sizes are that much smaller, for a machine without a GPU."""

    def size(value: int) -> int:
        return max(16, value // scale)

    is_whole = scale == 1
    batch, heads, length = (8, 16, 1024) if is_whole else (2, 2, size(1024))
    return (
        _decoder(size(4096), size(4096), size(11008)),
        _gated(size(16384), size(1024), size(2816)),
        _attention(batch, heads, length),
        _sampler(32 if is_whole else 2, size(128256)),
        _int8(4, size(4096), size(11008)),
    )


def _decoder(rows: int, width: int, hidden: int) -> BenchmarkModule:
    return BenchmarkModule(
        "decoder block",
        lambda: DecoderBlock(width, max(1, width // 128), hidden),
        lambda n: [_normal(n, rows, width), _normal(n + 1, rows, width)],
        _mlp_regions(rows, width, hidden),
    )


def _gated(rows: int, width: int, hidden: int) -> BenchmarkModule:
    return BenchmarkModule(
        "gated MLP",
        lambda: GatedMlp(width, hidden),
        lambda n: [_normal(n, rows, width), _normal(n + 1, rows, width)],
        _mlp_regions(rows, width, hidden),
    )


def _mlp_regions(rows: int, width: int, hidden: int) -> tuple[PlacedRegion, ...]:
    return (
        PlacedRegion("add_rms_norm", "add_rms_norm", {"rows": rows, "cols": width}, add_rms_norm),
        PlacedRegion("swiglu", "swiglu", {"rows": rows, "cols": hidden}, swiglu),
    )


def _attention(batch: int, heads: int, length: int) -> BenchmarkModule:
    width = 64 * heads
    dims = {"batch": batch, "rows": heads * length, "cols": length}
    return BenchmarkModule(
        "encoder attention",
        lambda: BiasedAttention(length, width, heads),
        lambda n: [_normal(n, batch, length, width)],
        (PlacedRegion("biased_softmax", "biased_softmax", dims, biased_softmax),),
    )


def _sampler(rows: int, words: int) -> BenchmarkModule:
    dims = {"rows": rows, "cols": words}
    return BenchmarkModule(
        "sampler",
        Sampler,
        lambda n: [3 * _normal(n, rows, words), _noise(n, rows, words)],
        (PlacedRegion("vocabulary_softmax", "vocabulary_softmax", dims, vocabulary_softmax),),
    )


def _int8(tokens: int, width: int, hidden: int) -> BenchmarkModule:
    return BenchmarkModule(
        "int8 MLP",
        lambda: Int8Mlp(width, hidden),
        lambda n: [_normal(n, tokens, width)],
        (
            PlacedRegion("int8_up", "int8_linear", {"tokens": tokens, "k": width, "n": hidden}, int8_linear),
            PlacedRegion("int8_down", "int8_linear", {"tokens": tokens, "k": hidden, "n": width}, int8_linear),
            PlacedRegion("swiglu", "swiglu", {"rows": tokens, "cols": hidden}, swiglu),
        ),
    )


def _normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)


def _noise(seed: int, *shape: int) -> torch.Tensor:
    return torch.empty(shape).exponential_(generator=torch.Generator().manual_seed(seed)).clamp_(min=1e-9)
