"""The mean under windows that follow from the extents, as a product that has one form for every extent."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def adaptive_mean(x: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
    """The means of the last axes, so many along each: windows of PyTorch's adaptive_avg_pool, which may overlap."""
    for axis, count in enumerate(counts, -len(counts)):
        x = (x.movedim(axis, -1) @ _shares(x.shape[axis], count).to(x.dtype)).movedim(-1, axis)
    return x


def _shares(extent: int, count: int) -> torch.Tensor:
    """The part that each place of an axis has in each mean."""
    places, means = torch.arange(extent)[:, None], torch.arange(count)
    inside = (places >= means * extent // count) & (places * count < (means + 1) * extent)
    return inside.double() / inside.sum(0)
