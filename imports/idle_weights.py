"""Weights that change nothing, as a bias before a normalization: a task has no input for them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from imports.differential import agree, doubled, moved
from imports.graph import Graph, Operation
from imports.numpy_text import reference_text
from imports.source_file import Instance
from imports.traced_graph import FLOATS
from tasks.loader import functions_of
from tasks.task import Array, Case


def idle_weights(
    graph: Graph, drawn: Graph | None, instance: Instance, config: Mapping[str, int], scalars: Mapping[str, float]
) -> list[str]:
    """Name the inputs that are weights and change no output of this instance."""
    text = reference_text(graph, drawn, list(config), "plain", "check", list(scalars))
    compute = functions_of(Path("reference.py"), text, hashlib.sha256(text.encode()).hexdigest())["reference"]
    state = {f"w_{n.replace('.', '_')}": moved(t).numpy() for n, t in instance.state.items()}
    arguments: dict[str, Array] = {}
    for name, value in zip(instance.names, instance.arguments, strict=True):
        if hasattr(value, "numpy"):
            arguments[name] = doubled(value).numpy()
    case, idle = Case("", dict(config), 0, scalars=scalars), []
    right = compute({**state, **arguments}, case)
    for name in [t.name for t in graph.inputs if t.parameter and t.dtype in FLOATS]:
        other = compute({**state, **arguments, name: np.flip(state[name]) * 1.5 + 0.25}, case)
        if all(agree(other[output], right[output]) for output in right):
            idle.append(name)
    return idle


def without(graph: Graph, idle: Collection[str]) -> Graph:
    """Put zeros into the graph for these weights."""
    dropped = [t for t in graph.inputs if t.name in idle]
    zeros = [Operation(t.name, "aten.zeros.default", (list(t.shape),), {}, t.shape, t.dtype) for t in dropped]
    notes = [f"{t.name} changes nothing and is left out" for t in dropped]
    inputs = tuple(t for t in graph.inputs if t.name not in idle)
    return replace(graph, inputs=inputs, nodes=(*zeros, *graph.nodes), notes=(*graph.notes, *notes))
