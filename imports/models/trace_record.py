"""What a profiler's trace says of kernels: how often each ran, how long, and with which shapes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TracedShapes:
    """The shapes and types of the operator behind some runs of a kernel."""

    operator: str
    shapes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    strides: tuple[tuple[int, ...], ...]  # empty where the trace has none
    count: int
    time_us: float


@dataclass(frozen=True)
class TracedKernel:
    """All runs of a kernel."""

    name: str
    count: int
    time_us: float
    uses: tuple[TracedShapes, ...]  # most time first; none where the trace has no operators


@dataclass(frozen=True)
class ProfilerTrace:
    """A trace's kernels, the one with the most time first."""

    form: str  # "PyTorch" or "rocprofv3"
    device: str
    kernels: tuple[TracedKernel, ...]
    notes: tuple[str, ...]
