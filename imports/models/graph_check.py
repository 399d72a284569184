"""A traced model is a stranger's word: names that stand in texts of ours are names, and every value is there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from imports.models.operator_graph import GraphNode, OperatorGraph, TracedModel
from records.model_scan import ModelTensor

NAME = re.compile(r"[A-Za-z_]\w{0,199}")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+){0,40}")
TARGET = re.compile(r"getitem|[A-Za-z_]\w*\.[A-Za-z_]\w*\.[A-Za-z_]\w*")
WORDS = ("dtype", "device", "memory_format", "layout", "other")
MOST_NODES, MOST_RANK, MOST_DEPTH, MOST_EXTENT = 200_000, 32, 12, 1 << 48


def refuse_forged(model: TracedModel) -> None:
    """ValueError for a graph that no tracer of ours has written."""
    _require(isinstance(model.name, str) and NAME.fullmatch(model.name) is not None)
    _require(all(isinstance(note, str) for note in model.notes))
    _require(sum(len(graph.nodes) for graph in model.graphs) <= MOST_NODES)
    for graph in model.graphs:
        _check_graph(graph)


def _check_graph(graph: OperatorGraph) -> None:
    defined = set[str]()
    for tensor in graph.inputs:
        _check_tensor(tensor)
        _add(defined, tensor.name)
    for node in graph.nodes:
        _require(isinstance(node.target, str) and TARGET.fullmatch(node.target) is not None)
        _require(all(isinstance(k, str) and NAME.fullmatch(k) for k in node.kwargs))
        _check_value((*node.args, *node.kwargs.values()), defined, 0)
        for tensor in node.results:
            _check_tensor(tensor)
        _require(all(isinstance(trait, str) for trait in node.traits))
        _require(node.target != "getitem" or _is_part(node))
        _add(defined, node.name)
    _require(all(name in defined for name in graph.outputs))


def _is_part(node: GraphNode) -> bool:
    return len(node.args) == 2 and isinstance(node.args[0], Mapping) and type(node.args[1]) is int and not node.kwargs


def _add(defined: set[str], name: object) -> None:
    _require(isinstance(name, str) and DOTTED.fullmatch(name) is not None and name not in defined)
    defined.add(str(name))


def _check_tensor(tensor: ModelTensor) -> None:
    _require(isinstance(tensor.name, str) and DOTTED.fullmatch(tensor.name) is not None)
    _require(isinstance(tensor.dtype, str) and NAME.fullmatch(tensor.dtype) is not None)
    _require(len(tensor.shape) <= MOST_RANK and len(tensor.stride) in (0, len(tensor.shape)))
    _require(all(type(n) is int and -1 <= n <= MOST_EXTENT for n in (*tensor.shape, *tensor.stride)))
    _require(tensor.role in ("", "weight", "constant"))


def _check_value(value: Any, defined: set[str], depth: int) -> None:
    _require(depth <= MOST_DEPTH)
    if isinstance(value, Mapping):
        _require(len(value) == 1)
        key, content = next(iter(value.items()))
        if key == "node":
            _require(content in defined)
        elif key == "float":
            _require(content in ("inf", "-inf", "nan"))
        elif key != "symbol":
            _require(key in WORDS and isinstance(content, str) and NAME.fullmatch(content) is not None)
    elif isinstance(value, (list, tuple)):
        _check_values(value, defined, depth + 1)
    else:
        _require(value is None or isinstance(value, (bool, int, float, str)))
        _require(not isinstance(value, float) or math.isfinite(value))


def _check_values(values: Iterable[Any], defined: set[str], depth: int) -> None:
    for value in values:
        _check_value(value, defined, depth)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("no graph of a model")
