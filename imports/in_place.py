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
    places = {node: place for place, node in enumerate(graph.nodes)}
    holders, found = [n for n in graph.nodes if n.op == "placeholder"], {}
    for node in [n for n in graph.nodes if n.op == "call_function" and _writes(n)]:
        target, value = node.args[0], _value_written(graph, node)
        target.replace_all_uses_with(
            value, delete_user_cb=lambda user, at=places[node], own=value: user is not own and places.get(user, -1) > at
        )
        if target in holders:
            found[names[holders.index(target)]] = value
        graph.erase_node(node)
    return list(found.items())


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
        made = graph.call_function(pure, node.args, dict(node.kwargs))
    made.meta = dict(node.meta)
    node.replace_all_uses_with(made)
    return made
