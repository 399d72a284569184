"""A region of a scanned model: a function of PyTorch, with the shapes that occur and their share of the time.

In the import's own process only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, prod

from imports.listed_cases import MOST_CASES, is_size
from imports.refusal import ImportRefused
from imports.source_file import TorchSource
from records.model_scan import CASES


@dataclass(frozen=True)
class RegionSource(TorchSource):
    """`text` is region.py, `more` cases.json: a list of objects with `sizes` and `weight`."""

    more: str = "[]"

    @cached_property
    def _weighted(self) -> list[tuple[Mapping[str, int], float]]:
        """Sizes and weights of those that take the most time, the largest first."""
        names = set(super().constants())
        try:
            rows = json.loads(self.more)
            pairs = [({str(n): v for n, v in row["sizes"].items()}, float(row["weight"])) for row in rows]
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise ImportRefused(f"{CASES} is no list of sizes and weights") from None
        for sizes, weight in pairs:
            if set(sizes) != names or not all(map(is_size, sizes.values())) or not (isfinite(weight) and weight > 0):
                raise ImportRefused(f"{CASES} has a case whose sizes or weight cannot be")
        heavy = sorted(pairs, key=lambda pair: -pair[1])[:MOST_CASES]
        return sorted(heavy, key=lambda pair: -prod(pair[0].values()))

    def constants(self) -> dict[str, int]:
        """Return the sizes of the largest case."""
        return dict(self._weighted[0][0]) if self._weighted else super().constants()

    def cases(self) -> Sequence[Mapping[str, float]]:
        """List the shapes that occur."""
        return [sizes for sizes, _ in self._weighted]

    def weights(self) -> Sequence[float]:
        """List their shares of the time."""
        return [weight for _, weight in self._weighted]
