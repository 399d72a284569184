"""What stands for `numpy.random` while a text draws its inputs: the task's own generator and law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tasks.dtypes import Array

Draw = Callable[[np.random.Generator, Any, str], Array]  # generator, shape and "normal" or "uniform"


class RandomDraws:
    """The functions of `numpy.random` and the methods of its generators, whatever seed a text gives them."""

    def __init__(self, rng: np.random.Generator, draw: Draw) -> None:
        """Take normal and uniform numbers from `draw`, all others from `rng`."""
        self._rng, self._draw = rng, draw

    def seed(self, *arguments: Any) -> None:
        """Leave the seed out: the case has one."""

    def default_rng(self, *arguments: Any) -> RandomDraws:
        """Return this generator, whatever the seed."""
        return self

    RandomState = Generator = PCG64 = default_rng

    def _drawn(self, size: Any, law: str) -> Any:
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        return self._draw(self._rng, shape, law)

    def randn(self, *shape: int) -> Any:
        """Draw numbers of mean 0 and deviation 1."""
        return self._drawn(shape, "normal")

    def standard_normal(self, size: Any = None, dtype: Any = None) -> Any:
        """Draw numbers of mean 0 and deviation 1."""
        return self._drawn(size, "normal")

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw numbers of another mean and deviation."""
        return loc + scale * self._drawn(size, "normal")

    def rand(self, *shape: int) -> Any:
        """Draw numbers from 0 to 1."""
        return self._drawn(shape, "uniform")

    def random(self, size: Any = None, dtype: Any = None) -> Any:
        """Draw numbers from 0 to 1."""
        return self._drawn(size, "uniform")

    random_sample = sample = ranf = random

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Draw numbers between two others."""
        return low + (high - low) * self._drawn(size, "uniform")

    def randint(self, low: int, high: int | None = None, size: Any = None, dtype: Any = np.int64) -> Any:
        """Draw whole numbers."""
        return self._rng.integers(low, high, size, np.dtype(dtype))

    def integers(
        self, low: int, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
    ) -> Any:
        """Draw whole numbers."""
        return self._rng.integers(low, high, size, np.dtype(dtype), endpoint)

    def __getattr__(self, name: str) -> Any:
        """Return another method of the generator, such as `permutation`."""
        return getattr(self._rng, name)
