"""Operations that change their operand, as ones that make a new value. In the import's own process only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from imports.refusal import RECORDS, ImportRefused


def updates(graph: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    """State and inputs that change, and their values at the end.

    What is written in place is read from the value written.
    """
    order = {node: index for index, node in enumerate(graph.nodes)}
    holders, updated = [n for n in graph.nodes if n.op == "placeholder"], {}
    for node in [n for n in graph.nodes if n.op == "call_function" and _writes(n)]:
        target, value = node.args[0], _value_written(graph, node)
        target.replace_all_uses_with(
            value, delete_user_cb=lambda n, start=order[node], new=value: n is not new and order.get(n, -1) > start
        )
        if target in holders:
            updated[names[holders.index(target)]] = value
        graph.erase_node(node)
    return list(updated.items())


def _writes(node: Any) -> bool:
    """Tell whether an operation changes its first operand: `aten.copy_.default`, `aten.add_.Tensor`."""
    parts = str(node.target).split(".")
    return parts[0] == "aten" and parts[1].endswith("_") and not parts[1].endswith("__")


def _value_written(graph: Any, node: Any) -> Any:
    """Put a node that changes nothing in the place of an operation in place; return the value that it leaves."""
    _, name, overload = str(node.target).split(".")
    if name == "copy_":
        node.replace_all_uses_with(node.args[1])
        return node.args[1]
    pure = getattr(getattr(torch.ops.aten, name.rstrip("_"), None), overload, None)
    if pure is None:
        raise ImportRefused(f"the operation {node.target} has no translation to NumPy yet; {RECORDS}")
    with graph.inserting_before(node):
        functional = graph.call_function(pure, node.args, dict(node.kwargs))
    functional.meta = dict(node.meta)
    node.replace_all_uses_with(functional)
    return functional
