"""The pattern of a function of PyTorch, traced for the tensors that it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from exports.models.package.graphs import name_of, traced
from exports.models.package.patterns import DTYPES, dtype_of
from records.model_scan import ModelTensor, PatternNode, RegionPattern

_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def pattern_of(function: Callable[..., Any], inputs: Sequence[ModelTensor]) -> RegionPattern:
    """Trace the function; it may hold no tensors of its own."""
    with FakeTensorMode():
        fakes = [torch.empty_strided(t.shape, t.stride, dtype=dtype_of(t.dtype)) for t in inputs]
        graph = traced(function, fakes).graph
    nodes = list(graph.nodes)
    placeholders = [node for node in nodes if node.op == "placeholder"]
    names = {node: tensor.name for node, tensor in zip(placeholders, inputs, strict=True)}
    calls = [node for node in nodes if node.op == "call_function"]
    rows = tuple(
        PatternNode(
            node.name,
            name_of(node.target),
            tuple(_argument(a, names) for a in node.args),
            {name: _argument(a, names) for name, a in node.kwargs.items()},
        )
        for node in calls
    )
    returned = nodes[-1].args[0]
    outputs = returned if isinstance(returned, list | tuple) else [returned]
    return RegionPattern(rows, tuple(inputs), tuple(node.name for node in outputs), ())


def _argument(value: Any, names: dict[torch.fx.Node, str]) -> Any:
    if isinstance(value, torch.fx.Node):
        return {"input": names[value]} if value in names else {"node": value.name}
    if isinstance(value, list | tuple):
        return [_argument(entry, names) for entry in value]
    for kind, word in ((torch.dtype, "dtype"), (torch.device, "device"), (torch.layout, "layout")):
        if isinstance(value, kind):
            return {word: _NAMES.get(value, str(value).removeprefix("torch."))}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value).removeprefix("torch.")}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"float": str(value)}
    return value
