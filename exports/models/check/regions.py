"""A region of a model alone, timed as PyTorch runs it and as its kernel: warm, in CUDA graphs of several calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch

from exports.models.check.model_verdict import KernelEffect
from exports.models.check.speed import race
from exports.models.check.ways import DeviceWindows, captured, compiled, warmed

CALLS = 10  # in one graph: a model calls a kernel among others, so that a launch's own latency is mostly hidden
REGION, KERNEL = "region", "kernel"


def region_times(package: ModuleType, effect: KernelEffect, mode: str, rng: random.Random, rounds: int) -> KernelEffect:
    """Time the region in one of PyTorch's modes and the kernel, on the shapes that occur in the model."""
    kernel = next(k for k in package.applying.kernels("device") if k.name == effect.name)
    if not effect.replaced or effect.breaks_graphs:
        return effect
    inputs = [_drawn(row, package.patterns.dtype_of(row["dtype"])) for row in kernel.record["pattern"]["inputs"]]
    ordered = [t.permute(order) if order else t for t, order in zip(inputs, kernel.input_orders, strict=True)]
    case = kernel.case_of(ordered)
    if case is None:
        return effect
    function = compiled(kernel.pattern.module, mode)
    try:
        calls = {
            REGION: _repeated(lambda: function(*inputs)),
            KERNEL: _repeated(lambda: kernel.call(*ordered, *case.sizes)),
        }
    except RuntimeError:
        return effect  # what cannot be captured alone has no time of its own; the model's capture tells why
    result = race(DeviceWindows(calls), list(calls), rng, rounds)
    region_us, kernel_us = (result.median_us(mode_name) / CALLS for mode_name in (REGION, KERNEL))
    return replace(effect, speed=region_us / kernel_us, region_us=region_us, kernel_us=kernel_us)


def _repeated(call: Callable[[], Any]) -> Callable[[], Any]:
    def several() -> list[Any]:
        return [call() for _ in range(CALLS)]

    warmed(several)
    return captured(several)


def _drawn(row: dict[str, Any], dtype: torch.dtype) -> torch.Tensor:
    """Draw a tensor with the layout of a pattern's input."""
    tensor = torch.empty_strided(row["shape"], row["stride"], dtype=dtype, device="cuda")
    values = torch.randn(row["shape"], device="cuda")
    return tensor.copy_(values if dtype.is_floating_point else values.abs().mul(2))
