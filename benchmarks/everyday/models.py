"""Ten functions as models' code has them, in PyTorch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def rotate_half(x: Tensor) -> Tensor:
    """Exchange the halves of the last axis, the second one negated."""
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def rope(q: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate queries by their positions: [batch, seq, heads, dim] with [seq, dim]."""
    return q * cos[None, :, None, :] + rotate_half(q) * sin[None, :, None, :]


def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """Add a bias to each row, then GELU."""
    return F.gelu(x + bias)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """Divide each row by its root mean square, computed in float32."""
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return weight * (wide * scale).to(x.dtype)


def add_layer_norm(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Add the residual, then normalise each row."""
    return F.layer_norm(x + residual, x.shape[-1:], weight, bias, eps=1e-5)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax of attention scores [batch, heads, queries, keys] where a mask [queries, keys] lets a query look."""
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)


def swiglu(x: Tensor) -> Tensor:
    """Gate the second half of each row by the SiLU of the first."""
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def group_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Normalise images [batch, channels, height, width] in 32 groups of channels."""
    return F.group_norm(x, 32, weight, bias)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Average a language model's loss over its rows."""
    picked = F.log_softmax(logits, dim=-1).gather(1, labels[:, None])
    return -picked.mean()


def quantise_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row to int8 by its largest magnitude; the scales beside it."""
    scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / 127
    return torch.round(x / scale).to(torch.int8), scale[:, 0]


def column_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the mean and the variance of each column, as a batch norm does in training."""
    return x.mean(dim=0), x.var(dim=0, unbiased=False)
