"""Operations of PyTorch as others of it that have a translation. In the import's own process only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from imports.refusal import RECORDS, ImportRefused

_one_hot = torch.nn.functional.one_hot
SUM, MEAN, MAX = range(3)  # modes of a bag


def split(x: torch.Tensor, size: int, dim: int = 0) -> list[torch.Tensor]:
    """Parts of so many elements along an axis; the last may be smaller."""
    extent = x.shape[dim]
    return [x.narrow(dim, start, min(size, extent - start)) for start in range(0, extent, size)]


def unbind(x: torch.Tensor, dim: int = 0) -> list[torch.Tensor]:
    """Split a tensor into the parts along an axis, without it."""
    return [x.select(dim, i) for i in range(x.shape[dim])]


def logcumsumexp(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Compute the logarithm of each sum of exponentials up to a place, with a maximum of its own."""
    if not x.ndim:
        return x.clone()
    rows = x.movedim(dim, -1)
    positions = torch.arange(rows.shape[-1])
    prefixes = torch.where(positions[None, :] <= positions[:, None], rows.unsqueeze(-2), -math.inf)
    return torch.logsumexp(prefixes, -1).movedim(-1, dim)


def embedding_bag(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, ...]:
    """Sum, average or compare the rows of each bag; what PyTorch keeps for a backward step is left empty."""
    if padding_idx >= 0:
        raise ImportRefused(f"a bag of embeddings with padding_idx has no translation to NumPy yet; {RECORDS}")
    offsets = offsets[:-1] if include_last_offset else offsets
    bags, positions = offsets.shape[0], torch.arange(indices.shape[0])
    bag = (positions[:, None] >= offsets[None, :]).sum(1) - 1
    rows = weight[indices]
    rows = rows if per_sample_weights is None else rows * per_sample_weights[:, None]
    if mode == MAX:
        inside = bag[None, :] == torch.arange(bags)[:, None]
        results = torch.where(inside[:, :, None], rows[None], -math.inf).amax(1)
        results = torch.where(inside.any(1)[:, None], results, 0.0)
    else:
        results = torch.zeros((bags, weight.shape[1]), dtype=rows.dtype).index_put([bag], rows, accumulate=True)
    if mode == MEAN:
        count = (bag[None, :] == torch.arange(bags)[:, None]).sum(1)
        results = results / count.clamp(min=1).to(rows.dtype)[:, None]
    nothing = torch.zeros(0, dtype=torch.int64)
    return results, nothing, nothing, nothing


def adaptive_mean(x: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
    """Average the last axes, so many along each: windows of PyTorch's adaptive_avg_pool, which may overlap."""
    for axis, count in enumerate(counts, -len(counts)):
        x = (x.movedim(axis, -1) @ _shares(x.shape[axis], count).to(x.dtype)).movedim(-1, axis)
    return x


def _shares(extent: int, count: int) -> torch.Tensor:
    """Compute the part that each place of an axis has in each mean."""
    positions, means = torch.arange(extent)[:, None], torch.arange(count)
    inside = (positions >= means * extent // count) & (positions * count < (means + 1) * extent)
    return inside.double() / inside.sum(0)


def pair_distances(x: torch.Tensor, y: torch.Tensor, power: float, mode: int | None = None) -> torch.Tensor:
    """Compute the distance of each row of one from each row of the other: `torch.cdist` in any of its ways."""
    apart = (x.unsqueeze(-2) - y.unsqueeze(-3)).abs()
    if power == float("inf"):
        return apart.amax(-1)
    if power == 2:
        return (apart * apart).sum(-1).sqrt()
    return apart.sum(-1) if power == 1 else apart.pow(power).sum(-1).pow(1 / power)


def windows(x: torch.Tensor, dim: int, size: int, step: int) -> torch.Tensor:
    """Take windows of so many places along an axis, each a step behind the one before, on a last axis of their own."""
    count = (x.shape[dim] - size) // step + 1
    indices = torch.arange(count)[:, None] * step + torch.arange(size)[None, :]
    return x.movedim(dim, -1)[..., indices].movedim(-2, dim % x.ndim)


def diagonal(x: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> torch.Tensor:
    """Take the values at equal places of two axes, or `offset` apart, on a last axis of their own."""
    square = x.movedim((dim1, dim2), (-2, -1))
    below, beyond = max(0, -offset), max(0, offset)
    indices = torch.arange(min(square.shape[-2] - below, square.shape[-1] - beyond))
    return square[..., indices + below, indices + beyond]


def one_hot(x: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    """One where the class is; without a number of classes PyTorch's own, which looks for the largest."""
    if num_classes < 0:
        return _one_hot(x, num_classes)
    return (x.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def own_decompositions() -> Mapping[Any, Any]:
    """By operation."""
    a = torch.ops.aten
    table: dict[Any, Any] = {
        a._adaptive_avg_pool2d.default: adaptive_mean,
        a._adaptive_avg_pool3d.default: adaptive_mean,
    }
    table |= {a.split_copy.Tensor: split, a.unbind_copy.int: unbind, a.logcumsumexp.default: logcumsumexp}
    table |= {a._cdist_forward.default: pair_distances, a.unfold.default: windows, a.diagonal.default: diagonal}
    table |= {getattr(a.__rshift__, kind): torch.bitwise_right_shift for kind in ("Scalar", "Tensor")}
    table |= {getattr(a.__lshift__, kind): torch.bitwise_left_shift for kind in ("Scalar", "Tensor")}
    table |= {a._embedding_bag.default: embedding_bag, a._embedding_bag_forward_only.default: embedding_bag}
    return table
