"""One kind of change of a kernel's text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.source import KernelFile

Variants = Callable[[KernelFile, str, frozenset[str]], tuple[str, ...]]


@dataclass(frozen=True)
class Move:
    """One kind of change. `variants` names those that apply to a file of this task on this architecture."""

    name: str
    title: str
    why: str
    rubric: tuple[str, ...]
    gain_pct: tuple[float, float]
    innovation: float
    variants: Variants
    apply: Callable[[KernelFile, str], str]
    is_exact: bool = True  # False: rounding may change, within what the task's tolerance is for
