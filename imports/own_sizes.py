"""A function at the sizes of its file, which are too large to compute. In the import's process only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from imports.fitting import value_of
from imports.graph import Graph, Tensor
from imports.refusal import FAULTS, ImportRefused, ImportUnfitted
from imports.results import results_of
from imports.sizing import Sizing
from imports.source_file import TorchSource
from imports.traced_graph import Trace, trace

NEAR, FEW = 24, 4  # sets of sizes near the file's own, which tell windows of as many places apart; and of large graphs
MOST_NODES = 32  # operations of a graph that is not large: one takes 2 ms


def refuse_other_shapes(graph: Graph, source: TorchSource, sizing: Sizing, original: Mapping[str, int]) -> None:
    """ImportUnfitted where inputs or results have other shapes there.

    Nothing is computed and no memory taken; a file that needs values for its shapes is not asked.
    """
    for case in source.cases() or [original]:
        if not sizing.admits(case):
            continue
        dims = {name: int(case[name]) for name in sizing.base}
        try:
            with FakeTensorMode(), torch.no_grad():
                shapes = _shapes({**original, **source.scalars(), **case}, source)
        except (*FAULTS, ImportRefused):
            return
        expected = [*graph.inputs, *(spec for spec, _ in graph.outputs)]
        for tensor in expected:
            _compare(tensor, shapes.get(tensor.name), dims)


@dataclass(frozen=True)
class AtOwnSizes:
    """Traces at the sizes of the file and at some near them, those sizes, and the real arguments there."""

    traces: Sequence[Trace]
    configs: Sequence[Mapping[str, int]]
    scalars: Mapping[str, float]


def traced_at_own_sizes(source: TorchSource, sizing: Sizing, original: Mapping[str, int]) -> AtOwnSizes | None:
    """None for a file that needs values for its shapes, or has sizes that stay and are not its own.

    Small sizes alone leave many windows alike: 16 to 29 places give one or two of width 11, and of width 8 as well.
    """
    if not sizing.admits(original):
        return None
    scalars, names = source.scalars(), list(sizing.base)
    own_dims = {n: original[n] for n in names}
    reserved = {*names, *scalars}

    def traced(config: Mapping[str, int]) -> Trace:
        return trace(source.build({**original, **scalars, **sizing.constants(config)}), reserved)

    try:
        with FakeTensorMode(), torch.no_grad():
            first = traced(own_dims)
            near = range(1, 1 + (NEAR if len(first.nodes) <= MOST_NODES else FEW))
            # Sizes grow by different steps, or two that are alike in the file would stay alike.
            configs = [{n: own_dims[n] + k * (2 * i + 1) * sizing.steps[n] for i, n in enumerate(names)} for k in near]
            return AtOwnSizes([first, *map(traced, configs)], [own_dims, *configs], scalars)
    except (*FAULTS, ImportRefused):
        return None


def _shapes(values: Mapping[str, float], source: TorchSource) -> Mapping[str, Sequence[int]]:
    """Of the arguments and the weights by their names."""
    instance = source.build(values)
    shapes = {f"w_{n.replace('.', '_')}": tuple(t.shape) for n, t in instance.state.items()}
    pairs = zip(instance.names, instance.arguments, strict=True)
    shapes |= {n: tuple(a.shape) for n, a in pairs if isinstance(a, torch.Tensor)}
    result = instance.call(dict(instance.state), instance.arguments)
    ends = results_of(result)
    titles = instance.outputs or (("y",) if len(ends) == 1 else tuple(f"y{i}" for i in range(len(ends))))
    return {n: tuple(t.shape) for n, t in zip(titles, ends, strict=True)} | shapes


def _compare(tensor: Tensor, shape: Sequence[int] | None, dims: Mapping[str, int]) -> None:
    fitted = tuple(value_of(size, dims) for size in tensor.shape)
    if shape is not None and tuple(shape) != fitted:
        sizes = ", ".join(f"{n} = {v}" for n, v in dims.items())
        raise ImportUnfitted(
            f"for {sizes} its {tensor.name} has the shape {tuple(shape)}, where small sizes lead to {fitted}"
        )
