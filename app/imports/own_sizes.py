"""Shapes at the sizes of a file's own cases, beside those that were fitted to small ones. In the import's process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from app.imports.fitting import value_of
from app.imports.graph import Graph, Tensor
from app.imports.refusal import FAULTS, ImportRefused, ImportUnfitted
from app.imports.results import results_of
from app.imports.sizing import Sizing
from app.imports.source_file import Source


def refuse_other_shapes(graph: Graph, source: Source, sizing: Sizing, original: Mapping[str, int]) -> None:
    """ImportUnfitted where inputs or results have other shapes there.

    Nothing is computed and no memory taken; a file that needs values for its shapes is not asked.
    """
    for case in source.cases() or [original]:
        if not sizing.admits(case):
            continue
        dims = {name: int(case[name]) for name in sizing.base}
        try:
            with FakeTensorMode(), torch.no_grad():
                found = _shapes({**original, **source.scalars(), **case}, source)
        except (*FAULTS, ImportRefused):
            return
        expected = [*graph.inputs, *(spec for spec, _ in graph.outputs)]
        for tensor in expected:
            _compare(tensor, found.get(tensor.name), dims)


def _shapes(values: Mapping[str, float], source: Source) -> Mapping[str, Sequence[int]]:
    """Of the arguments and the weights by their names."""
    instance = source.build(values)
    shapes = {f"w_{n.replace('.', '_')}": tuple(t.shape) for n, t in instance.state.items()}
    pairs = zip(instance.names, instance.arguments, strict=True)
    shapes |= {n: tuple(a.shape) for n, a in pairs if isinstance(a, torch.Tensor)}
    made = instance.call(dict(instance.state), instance.arguments)
    ends = results_of(made)
    titles = instance.outputs or (("y",) if len(ends) == 1 else tuple(f"y{i}" for i in range(len(ends))))
    return {n: tuple(t.shape) for n, t in zip(titles, ends, strict=True)} | shapes


def _compare(tensor: Tensor, seen: Sequence[int] | None, dims: Mapping[str, int]) -> None:
    fitted = tuple(value_of(size, dims) for size in tensor.shape)
    if seen is not None and tuple(seen) != fitted:
        sizes = ", ".join(f"{n} = {v}" for n, v in dims.items())
        raise ImportUnfitted(
            f"for {sizes} its {tensor.name} has the shape {tuple(seen)}, where small sizes lead to {fitted}"
        )
