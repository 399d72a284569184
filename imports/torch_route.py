"""PyTorch's way to a task: traced, translated to NumPy, compared with PyTorch in double precision.

The translation stays although a NumPy text is executed as it is: a judge has NumPy alone (65 MB, 0.1 s to load) and no
PyTorch (754 MB for the processor, 1.4 s), in each process that answers for a reference. Constants are those of the file
in float64, never rounded to float32.
In the import's own process only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from imports.fitted_graph import graphs_of
from imports.numpy_text import SAID, reference_text
from imports.own_sizes import refuse_other_shapes
from imports.refusal import ImportRefused
from imports.results import results_of
from imports.route import Followed
from imports.route import refuse_other_shapes as refuse_changing
from imports.sizing import Sizing
from imports.source_file import TorchSource


@dataclass(frozen=True)
class TorchRoute:
    """A source of PyTorch."""

    source: TorchSource
    statement: str = "reference.py states it in NumPy, line by line."

    def try_out(self, constants: Mapping[str, Any]) -> None:
        """Compute the outputs twice; ImportRefused where their shapes differ."""
        instance = self.source.build(constants)
        with torch.no_grad():
            state = {n: t.clone() for n, t in instance.state.items()}
            results = [results_of(instance.call(state, _copied(instance.arguments))) for _ in range(2)]
        refuse_changing([[tuple(t.shape) for t in tensors] for tensors in results])

    def followed(self, sizing: Sizing, original: Mapping[str, int]) -> Followed:
        """Trace the function and the draws of its inputs."""
        graph, drawn, scalars = graphs_of(self.source, sizing, original)
        refuse_other_shapes(graph, self.source, sizing, original)
        return Followed(graph, drawn, scalars)

    def unfollowed(self, sizing: Sizing, original: Mapping[str, int], reason: ImportRefused) -> Followed:
        """Raise the reason: without a graph there is no reference in NumPy."""
        raise reason

    def seconds(self, sizing: Sizing, dims: Mapping[str, int]) -> float:
        """Return 0: the cost follows from the graph."""
        return 0.0

    def unplanted(self, followed: Followed, sizing: Sizing) -> tuple[str, ...]:
        """Name none."""
        return ()

    def reference_text(self, followed: Followed, sizing: Sizing, law: str, title: str) -> str:
        """Write the graph in NumPy."""
        scalars = list(followed.scalars)
        return reference_text(followed.graph, followed.drawn, list(sizing.base), law, title, scalars)

    def said(self, law: str, followed: Followed) -> str:
        """Say how the inputs are drawn."""
        is_own = followed.drawn is not None or law != "plain"
        return SAID[law] if is_own else "inputs are drawn from a normal distribution"


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)
