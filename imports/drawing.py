"""The graph of the inputs that a file draws for itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from imports.fitted_sizes import Sizes
from imports.fitting import Fitting
from imports.graph import Graph, Tensor
from imports.refusal import ImportRefused
from imports.source_file import Instance
from imports.traced_graph import decompositions, node_of
from tasks.structure import STRUCTURES, has_structure

LEAST_VALUES = 8


def drawn_graph(instances: Sequence[Instance], fitting: Fitting, names: set[str]) -> Graph | None:
    """Trace the graph that draws the inputs; None where the file's own way cannot be followed."""
    graphs = []
    for instance in instances:
        if instance.redraw is None:
            return None
        try:
            graphs.append(_drawn_nodes(instance))
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError):
            return None
    nodes, ends, _ = graphs[0]
    if any([str(n.target) for n in g[0]] != [str(n.target) for n in nodes] for g in graphs):
        return None
    sizes, constants = Sizes(fitting), [g[2] for g in graphs]
    try:
        operations = tuple(node_of(rows, constants, sizes) for rows in zip(*(g[0] for g in graphs), strict=True))
    except ImportRefused:
        return None
    by_name = {n.name: n for n in operations}
    outputs = []
    for name, end in zip(_tensor_names(instances[0]), ends, strict=True):
        if name in names:
            value = by_name[end.name]
            outputs.append((Tensor(name, value.shape, value.dtype), end.name))
    graph = Graph((), operations, tuple(outputs))
    return Graph((), graph.needed()[0], graph.outputs)


def structured(graph: Graph, instances: Sequence[Instance]) -> Graph:
    """Give the graph the structures that its inputs have in every instance."""
    arrays: dict[str, list[Any]] = {}
    for instance in instances:
        for name, value in zip(instance.names, instance.arguments, strict=True):
            if isinstance(value, torch.Tensor):
                arrays.setdefault(name, []).append(value)
    inputs = tuple(replace(t, structure=_structure(arrays.get(t.name, []))) for t in graph.inputs)
    return replace(graph, inputs=inputs)


def _structure(tensors: Sequence[Any]) -> str:
    """Find the structure of all of these matrices, of which one at least is large enough to have one by no accident."""
    square = all(t.ndim > 1 and t.shape[-1] == t.shape[-2] and t.is_floating_point() for t in tensors)
    if not square or not any(t.unique().numel() > LEAST_VALUES for t in tensors):
        return ""
    arrays = [t.double().numpy() for t in tensors]
    return next((name for name in STRUCTURES if all(has_structure(x, name) for x in arrays)), "")


def _tensor_names(instance: Instance) -> list[str]:
    return [n for n, a in zip(instance.names, instance.arguments, strict=True) if isinstance(a, torch.Tensor)]


def _drawn_nodes(instance: Instance) -> tuple[list[Any], list[Any], dict[str, torch.Tensor]]:
    """Return the nodes, those that are the inputs, and the tensors that the file holds, by the names of their nodes."""

    def function() -> list[torch.Tensor]:
        assert instance.redraw is not None
        return [a for a in instance.redraw() if isinstance(a, torch.Tensor)]

    torch.manual_seed(0)
    with torch.no_grad():
        module = make_fx(functionalize(function, remove="mutations_and_views"), decompositions())()
    attributes = {n.name: getattr(module, n.target) for n in module.graph.nodes if n.op == "get_attr"}
    tensors = {n: value for n, value in attributes.items() if isinstance(value, torch.Tensor)}  # others are generators
    nodes = [n for n in module.graph.nodes if n.op == "call_function" or n.name in tensors]
    ends = next(list(n.args[0]) for n in module.graph.nodes if n.op == "output")
    return nodes, ends, tensors
