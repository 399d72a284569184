"""Graphs of aten operators as eager PyTorch calls them: a model's and a pattern's in one form, so that they compare.

Composite operators stay whole (linear, softmax, rms_norm), those that may return a view of their argument are resolved
(reshape, to, contiguous, chunk), updates in place of fresh values become plain operators. Gradients still flow through
such a graph.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_STATEMENTS = ("aten._assert_tensor_metadata.default", "aten.sym_constrain_range.default")


def traced(function: Callable[..., Any], inputs: Sequence[Any]) -> torch.fx.GraphModule:
    """Trace the function for these fake inputs, which stay the graph's placeholders; each node keeps its value."""
    graph = make_fx(function, pre_dispatch=True, tracing_mode="real")(*inputs)
    for node in list(graph.graph.nodes):
        if node.op == "call_function" and _may_alias(node.target):
            _resolve(graph.graph, node)
    _drop_statements(graph.graph)
    _select_parts(graph.graph)
    _name_batch_norms(graph.graph)
    _make_functional(graph.graph)
    _drop_copies(graph.graph)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def _resolve(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    """Put the operators that a composite one consists of in its place, for its very arguments."""
    arguments = node.all_input_nodes

    def call(*given: Any) -> Any:
        values = dict(zip(arguments, given, strict=True))
        positional, keywords = torch.fx.map_arg((node.args, dict(node.kwargs)), values.__getitem__)
        return node.target(*positional, **keywords)

    with torch.no_grad():
        parts = make_fx(call, tracing_mode="real")(*(argument.meta["val"] for argument in arguments)).graph
    if any(part.op == "get_attr" for part in parts.nodes):
        return
    sources = iter(arguments)
    copied = dict[torch.fx.Node, torch.fx.Node]()
    with graph.inserting_before(node):
        for part in parts.nodes:
            if part.op == "placeholder":
                copied[part] = next(sources)
            elif part.op == "call_function":
                copied[part] = graph.node_copy(part, copied.__getitem__)
            else:
                results = torch.fx.map_arg(part.args[0], copied.__getitem__)
    if isinstance(results, torch.fx.Node):
        node.replace_all_uses_with(results)
    else:
        for user in list(node.users):
            user.replace_all_uses_with(results[user.args[1]])
            graph.erase_node(user)
    graph.erase_node(node)


def _may_alias(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload) or not target.has_kernel_for_dispatch_key(_COMPOSITE):
        return False
    annotated = any(a.alias_info is not None for a in target._schema.arguments)
    return annotated or torch.Tag.maybe_aliasing_or_mutating in target.tags


def name_of(target: Any) -> str:
    """Name an operator: `aten.mul.Tensor`, `getitem`."""
    return "getitem" if target is operator.getitem else str(target)


def changed(node: torch.fx.Node) -> list[torch.fx.Node]:
    """List the arguments that a node writes."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return [a for a in node.all_input_nodes] if node.op in ("call_method", "call_module") else []
    targets = []
    for position, argument in enumerate(node.target._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = node.args[position] if position < len(node.args) else node.kwargs.get(argument.name)
            rows = value if isinstance(value, list | tuple) else [value]
            targets += [row for row in rows if isinstance(row, torch.fx.Node)]
    return targets


def is_view(node: torch.fx.Node) -> bool:
    """Tell whether a node's result may share memory with an argument."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.args[0], torch.fx.Node) and is_view(node.args[0])
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    return any(r.alias_info is not None for r in node.target._schema.returns) and not changed(node)


def root(node: torch.fx.Node) -> torch.fx.Node:
    """Find the value that a view shows; the node itself where it is none."""
    while is_view(node) and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node


def _drop_statements(graph: torch.fx.Graph) -> None:
    for node in [n for n in graph.nodes if n.op == "call_function" and name_of(n.target) in _STATEMENTS]:
        graph.erase_node(node)


def _select_parts(graph: torch.fx.Graph) -> None:
    """Write each part of an `unbind` as a `select`, as torch.compile does where a tensor is iterated over."""
    for node in [n for n in graph.nodes if n.op == "call_function" and name_of(n.target) == "aten.unbind.int"]:
        axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
        for user in [u for u in node.users if u.target is operator.getitem]:
            with graph.inserting_before(user):
                part = graph.call_function(torch.ops.aten.select.int, (node.args[0], axis, user.args[1]))
            part.meta = dict(user.meta)
            user.replace_all_uses_with(part)
            graph.erase_node(user)


def _name_batch_norms(graph: torch.fx.Graph) -> None:
    """Write a batch norm in evaluation as on a GPU and in torch.export: on the processor it has another name."""
    for node in graph.nodes:
        if node.op == "call_function" and name_of(node.target) == "aten.native_batch_norm.default" and not node.args[5]:
            node.target = torch.ops.aten._native_batch_norm_legit_no_training.default
            node.args = (*node.args[:5], *node.args[6:8])


def _make_functional(graph: torch.fx.Graph) -> None:
    """Replace updates in place of values that nothing else can see: `relu_(linear(x))` is `relu(linear(x))`."""
    order = {node: position for position, node in enumerate(graph.nodes)}
    for node in list(graph.nodes):
        targets = changed(node)
        plain = _plain_form(node.target) if len(targets) == 1 else None
        if plain is None or node.args[:1] != (targets[0],):
            continue
        value = targets[0]
        is_fresh = value.op == "call_function" and not is_view(value) and not changed(value)
        later_readers = [
            user for user in value.users if user is not node and (order[user] > order[node] or is_view(user))
        ]
        if is_fresh and not later_readers:
            node.target = plain


def _plain_form(target: Any) -> Any:
    """Find the operator that gives a new result in place of an update: `aten.relu` of `aten.relu_`; None without it."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    base, _, overload = target._schema.name.partition("::")[2], "", target._overloadname
    packet = getattr(torch.ops.aten, base[:-1], None) if base.endswith("_") and not base.endswith("__") else None
    return getattr(packet, overload, None) if packet is not None else None


def _drop_copies(graph: torch.fx.Graph) -> None:
    """Leave out copies that only functional graphs could tell from their source, as dropout makes in evaluation."""
    if any(changed(node) for node in graph.nodes):
        return
    for node in list(graph.nodes):
        if node.op != "call_function" or name_of(node.target) not in ("aten.clone.default", "aten.alias.default"):
            continue
        source = node.args[0]
        is_inner = source.op == "call_function" and all(user.op != "output" for user in node.users)
        if is_inner and len(node.args) == 1 and not node.kwargs:
            node.replace_all_uses_with(source)
            graph.erase_node(node)
