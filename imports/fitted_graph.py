"""The graph of a source, fitted to several sizes and checked at others. In the import's own process only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from imports import traced_graph
from imports.differential import refuse_difference
from imports.drawing import drawn_graph, structured
from imports.fitting import Fitting
from imports.graph import Graph, uses
from imports.idle_weights import idle_weights, without
from imports.own_sizes import AtOwnSizes, traced_at_own_sizes
from imports.refusal import (
    FAULTS,
    ImportDiffers,
    ImportRefused,
    ImportUnfitted,
    ImportUnrolled,
    named,
    short,
    with_sizes,
)
from imports.sizing import Sizing
from imports.source_file import Instance, TorchSource

FITS = 3  # times that expressions are fitted to sizes
STEP = 1 / 128  # by which a real argument is smaller from trace to trace, as a part of it
Values = Mapping[str, float]


def graphs_of(source: TorchSource, sizing: Sizing, original: Mapping[str, int]) -> tuple[Graph, Graph | None, Values]:
    """Trace the graph of the function and that of its inputs, checked against PyTorch in double precision; its scalars.

    Real arguments differ from trace to trace, so that they are found in the graph; where they are not, they stay as
    they are.
    """
    scalars = source.scalars()
    try:
        graph, drawn = _refitted(source, sizing, original, STEP)
    except ImportRefused:
        if not scalars:
            raise
        graph, drawn = _refitted(source, sizing, original, 0.0)
        return graph, drawn, {}
    return graph, drawn, {n: v for n, v in scalars.items() if uses(graph, n)}


def _refitted(
    source: TorchSource, sizing: Sizing, original: Mapping[str, int], step: float
) -> tuple[Graph, Graph | None]:
    """Fit the graphs again to sizes at which an expression fails, since one that fits those seen may fail at others."""
    rng = np.random.default_rng(0)
    configs = sizing.configs(rng)

    def values(index: int) -> Values:
        steps = {n: index * step * (1 + i / 8) for i, n in enumerate(source.scalars())}  # equal ones are told apart
        return {n: v * (1 - steps[n]) if v else steps[n] for n, v in source.scalars().items()}

    def built(config: Mapping[str, int], index: int) -> Instance:
        try:
            return source.build({**original, **sizing.constants(config), **values(index)})
        except FAULTS as error:
            raise ImportUnfitted(f"it does not run for {named(sizing.constants(config))}: {short(error)}") from None

    large = traced_at_own_sizes(source, sizing, original)
    for left in reversed(range(FITS)):
        instances = [built(config, index) for index, config in enumerate(configs)]
        scalars = [values(index) for index in range(len(configs))] if step and values(0) else []
        graph, drawn = _fitted(configs, instances, scalars, large)
        unseen = sizing.unseen(rng)
        unseen_instances = [
            (built(config, index), config, values(index) if scalars else {})
            for index, config in enumerate(unseen, len(configs))
        ]
        try:
            for other in unseen_instances:
                refuse_difference(graph, drawn, *other)
            break
        except ImportDiffers:
            if not left:
                raise
            configs = [*configs, *unseen]
    return _without_idle(graph, drawn, unseen_instances), drawn


def _without_idle(
    graph: Graph, drawn: Graph | None, unseen_instances: Sequence[tuple[Instance, Mapping[str, int], Values]]
) -> Graph:
    """Drop weights that change nothing from the graph, where what is left still is what PyTorch computes."""
    idle = idle_weights(graph, drawn, *unseen_instances[-1])
    if not idle:
        return graph
    less = without(graph, idle)
    try:
        for other in unseen_instances:
            refuse_difference(less, drawn, *other)
    except ImportDiffers:
        return graph
    return less


def _fitted(
    configs: Sequence[Mapping[str, int]],
    instances: Sequence[Instance],
    scalars: Sequence[Values],
    large: AtOwnSizes | None,
) -> tuple[Graph, Graph | None]:
    traces = []
    for config, instance in zip(configs, instances, strict=True):
        try:
            traces.append(traced_graph.trace(instance, {*config, *(scalars[0] if scalars else ())}))
        except FAULTS as error:
            raise ImportUnfitted(f"it does not run for {named(config)}: {short(error)}") from None
    if any(t.key != traces[0].key for t in traces):
        reason = "its operations change with its sizes, so one graph cannot stand for all"
        raise with_sizes(ImportUnrolled(reason, [len(t.nodes) for t in traces]), configs)
    graph, fitting = _unified(traces, configs, scalars, large)
    drawn = drawn_graph(instances, fitting, {t.name for t in graph.inputs})
    return graph if drawn is None else structured(graph, instances), drawn


def _unified(
    traces: Sequence[traced_graph.Trace],
    configs: Sequence[Mapping[str, int]],
    scalars: Sequence[Values],
    large: AtOwnSizes | None,
) -> tuple[Graph, Fitting]:
    """One graph, fitted to the file's own sizes as well where that can be; and the fitting of the small sizes."""
    if large is not None and all(own_trace.key == traces[0].key for own_trace in large.traces):
        all_scalars = [*scalars, *[large.scalars] * len(large.traces)] if scalars else ()
        fitting = Fitting([*configs, *large.configs], all_scalars)
        try:
            return traced_graph.unified([*traces, *large.traces], fitting), fitting.of_first(len(configs))
        except (*FAULTS, ImportRefused):  # a constant without values; sizes that only small ones have in common
            pass
    fitting = Fitting(configs, scalars)
    try:
        return traced_graph.unified(traces, fitting), fitting
    except ImportUnfitted as error:
        raise with_sizes(error, configs) from None
