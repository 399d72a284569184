"""Regions of a graph: the operators of a group with the views that they read through, inputs, outputs and pattern."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from imports.models.fusion import DataFlow, OperatorGroup
from imports.models.operator_graph import GraphNode
from records.model_scan import ModelTensor, PatternNode, RegionPattern

PREFERRED = ("is_contiguous", "is_dense")


@dataclass(frozen=True)
class GraphRegion:
    """A region: its nodes in the graph's order, views among them; its inputs and outputs as the graph names them."""

    nodes: tuple[GraphNode, ...]
    operators: tuple[GraphNode, ...]  # those that are no views
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    group: OperatorGroup
    is_constant: bool  # follows from weights alone

    @cached_property
    def plain_names(self) -> Mapping[str, str]:
        """Names of its own for inputs and nodes, the same wherever the region occurs."""
        names = {tensor.name: f"x{i}" for i, tensor in enumerate(self.inputs)}
        used = dict[str, int]()
        for node in self.nodes:
            base = node.operator.strip("_")
            base = f"{base}_of" if keyword.iskeyword(base) else base
            used[base] = used.get(base, -1) + 1
            names[node.name] = f"{base}_{used[base]}" if used[base] else base
        return names

    @cached_property
    def pattern(self) -> RegionPattern:
        """Its subgraph under those names, with this one occurrence."""
        names, inputs = self.plain_names, {t.name for t in self.inputs}

        def renamed(value: Any) -> Any:
            if isinstance(value, Mapping):
                if set(value) == {"node"}:
                    return {"input" if value["node"] in inputs else "node": names[value["node"]]}
                return {k: renamed(v) for k, v in value.items()}
            return [renamed(v) for v in value] if isinstance(value, (list, tuple)) else value

        nodes = tuple(
            PatternNode(names[n.name], n.target, tuple(map(renamed, n.args)), renamed(n.kwargs)) for n in self.nodes
        )
        return RegionPattern(
            nodes,
            tuple(replace(t, name=names[t.name]) for t in self.inputs),
            tuple(names[t.name] for t in self.outputs),
            (tuple(n.name for n in self.nodes),),
            (tuple(t.name for t in self.inputs),),
        )


def is_contiguous(tensor: ModelTensor) -> bool:
    """Tell whether the elements stand in memory in the order of the axes, without gaps."""
    expected = 1
    for length, stride in zip(reversed(tensor.shape), reversed(tensor.stride), strict=False):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return len(tensor.stride) == len(tensor.shape)


def memory_order(tensor: ModelTensor) -> tuple[int, ...]:
    """Order the axes as memory has them, the widest stride first; axes of one element stay where they are."""
    axes = range(len(tensor.shape))
    moved = iter(sorted((a for a in axes if tensor.shape[a] != 1), key=lambda a: (-tensor.stride[a], a)))
    return tuple(a if tensor.shape[a] == 1 else next(moved) for a in axes)


def is_dense(tensor: ModelTensor) -> bool:
    """Tell whether the elements fill a block of memory, in some order of the axes."""
    if len(tensor.stride) != len(tensor.shape):
        return False
    order = memory_order(tensor)
    return is_contiguous(
        replace(tensor, shape=tuple(tensor.shape[a] for a in order), stride=tuple(tensor.stride[a] for a in order))
    )


def region_of(flow: DataFlow, group: OperatorGroup) -> GraphRegion:
    """Make the region of a group of operators."""
    members = set(group.names)
    views, inputs = set[str](), dict[str, ModelTensor]()
    for name in group.names:
        for read in flow.nodes[name].reads():
            path, end = _path_to(flow, members, read)
            views |= set(path)
            if end not in members and end not in inputs and (tensor := flow.tensor(end)) is not None:
                inputs[end] = tensor
    nodes = [n for n in flow.graph.nodes if n.name in members or n.name in views]
    outputs = _outputs(flow, members, views)
    names = {n.name for n in nodes}
    missing = [flow.nodes[o.name] for o in outputs if o.name not in names]  # results of several that others read
    nodes = sorted([*nodes, *missing], key=lambda n: flow.order[n.name])
    return GraphRegion(
        tuple(nodes),
        tuple(n for n in nodes if n.name in members),
        tuple(replace(t, name=n) for n, t in inputs.items()),
        outputs,
        group,
        flow.constants.issuperset(group.names),
    )


def _path_to(flow: DataFlow, members: set[str], read: str) -> tuple[list[str], str]:
    """Find the views between what an operator reads and the value that the region takes for its input."""
    chain, name = list[str](), read
    while name in flow.nodes and flow.roles[name] == "view":
        source = flow.nodes[name].reads()
        if flow.nodes[name].target == "getitem" and source and flow.roles.get(source[0]) not in ("view", None):
            if source[0] in members:
                return [*chain, name], source[0]
            break  # one of several results of an operator outside
        if not source:
            break
        chain.append(name)
        name = source[0]
    if name in members:
        return chain, name
    values = [*chain, name]
    for is_wanted in (is_contiguous, is_dense):
        for index, value in enumerate(values):
            tensors = flow.nodes[value].results if value in flow.nodes else (flow.inputs[value],)
            if len(tensors) == 1 and is_wanted(tensors[0]):
                return values[:index], value
    return chain, name


def _outputs(flow: DataFlow, members: set[str], views: set[str]) -> tuple[ModelTensor, ...]:
    """List what others read: an operator's result, or one of its several results."""
    outputs = dict[str, ModelTensor]()
    for node in flow.graph.nodes:
        if node.name not in members:
            continue
        if len(node.results) == 1:
            read = any(r not in members for r in flow.readers.get(node.name, ()))
            if read or node.name in flow.results:
                outputs[node.name] = node.results[0]
            continue
        parts = [n for n in flow.graph.nodes if n.target == "getitem" and n.reads() == (node.name,)]
        for part in parts:
            if _is_read_outside(flow, members, part.name):
                outputs[part.name] = part.results[0]
    return tuple(replace(t, name=n) for n, t in outputs.items())


def _is_read_outside(flow: DataFlow, members: set[str], name: str) -> bool:
    """Tell whether a value is read outside of the region, past views."""
    waiting, seen_names = [name], {name}
    if name in flow.graph.outputs:
        return True
    while waiting:
        value = waiting.pop()
        for reader in flow.direct_readers.get(value, ()):
            if flow.roles[reader] == "view" and reader not in seen_names:
                if reader in flow.graph.outputs:
                    return True
                seen_names.add(reader)
                waiting.append(reader)
            elif flow.roles[reader] != "view" and reader not in members:
                return True
    return False
