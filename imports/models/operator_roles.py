"""What an operator of aten is to a kernel: element by element, over rows, a library's product, or a barrier."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

from imports.models.operator_graph import CUSTOM, POINTWISE, RANDOM, REDUCTION, VIEW, GraphNode
from records.model_scan import ModelTensor

Role = Literal["view", "map", "row", "gather", "product", "convolution", "attention", "recurrent", "barrier"]

NAMES: Mapping[str, frozenset[str]] = {
    group: frozenset(text.split())
    for group, text in tomllib.loads((Path(__file__).parent / "operators.toml").read_text(encoding="utf-8"))[
        "names"
    ].items()
}
OVER_DIM = {  # where the argument stands that names the axes; None or absent: all of them
    **dict.fromkeys(("softmax", "_softmax", "log_softmax", "_log_softmax", "logsumexp", "cumsum", "cumprod"), 1),
    **dict.fromkeys(("logcumsumexp", "cummax", "cummin", "argmax", "argmin", "max", "min", "median", "any", "all"), 1),
    **dict.fromkeys(("topk", "kthvalue", "linalg_vector_norm", "norm"), 2),
    **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), 2),
    **dict.fromkeys(("sort", "argsort", "mode", "sum", "mean", "amax", "amin", "var", "std", "prod", "var_mean"), 1),
}
INDEX_ARGUMENT = {  # where table and places stand
    **{"embedding": (0, 1), "index": (0, 1), "index_select": (0, 2), "gather": (0, 2), "take_along_dim": (0, 1)},
    **{"nll_loss_forward": (0, 1), "cross_entropy_loss": (0, 1), "scatter": (0, 2), "scatter_add": (0, 2)},
    **{"index_add": (0, 2), "index_copy": (0, 2), "nll_loss_nd": (0, 1), "nll_loss": (0, 1)},
}


@dataclass(frozen=True)
class RowShape:
    """The rows that an operator works on, each for itself: so many, so long, with so many places between elements."""

    count: int
    length: int
    inner: int = 1

    def agrees(self, other: RowShape) -> bool:
        """Tell whether one kernel can hold a row of each."""
        return self == other or (self.count == other.count and self.inner == other.inner == 1)


def role_of(node: GraphNode) -> Role:
    """Give the role of an operator; one that nothing is known of is a barrier."""
    name = node.operator
    if node.target == "getitem" or VIEW in node.traits or name in NAMES["view"]:
        return "view"
    if CUSTOM in node.traits or RANDOM in node.traits:
        return "barrier"
    if name in NAMES["product"]:
        return "product"
    if name in NAMES["convolution"]:
        return "convolution"
    if name in NAMES["attention"] or "scaled_dot_product" in name or "flash_attention" in name:
        return "attention"
    if name in NAMES["recurrent"]:
        return "recurrent"
    if name in NAMES["gather"]:
        return "gather"
    if name in NAMES["batch_norm"]:
        return "row" if is_training(node) else "map"
    is_row = REDUCTION in node.traits or name in OVER_DIM or name in NAMES["norm"] | NAMES["group_norm"] | NAMES["loss"]
    if is_row and not _is_between_two(node):
        return "row"
    if POINTWISE in node.traits or name in NAMES["map"] or (is_row and _is_between_two(node)):
        return "map"
    return "barrier"


def is_training(node: GraphNode) -> bool:
    """Tell whether a batch norm takes its statistics from the batch."""
    flags = [a for a in node.args if isinstance(a, bool)]
    return bool(flags and flags[0])


def rows_of(node: GraphNode, source: ModelTensor) -> RowShape:
    """Find the rows that a row operator works on, `source` being its first tensor."""
    shape, name = source.shape, node.operator
    if name in NAMES["norm"]:
        normalised = next((a for a in node.args if isinstance(a, list) and all(type(v) is int for v in a)), [])
        length = prod(normalised)
        return RowShape(prod(shape) // max(length, 1), length)
    if name in NAMES["group_norm"]:
        groups = next((a for a in node.args[1:] if type(a) is int), 1) if name == "group_norm" else node.args[6]
        count = shape[0] * groups if shape and isinstance(groups, int) else 1
        return RowShape(count, prod(shape) // max(count, 1))
    if name in NAMES["batch_norm"] and len(shape) > 1:
        return RowShape(shape[1], prod(shape) // max(shape[1], 1), prod(shape[2:]))
    axes = _axes(node, len(shape))
    length = prod(shape[a] for a in axes)
    count = prod(shape) // max(length, 1)
    last = max(axes, default=len(shape) - 1)
    return RowShape(count, length, prod(shape[last + 1 :]))


def _axes(node: GraphNode, rank: int) -> Sequence[int]:
    """List the axes that a row operator runs along."""
    name = node.operator
    position = OVER_DIM.get(name, 1)
    value: Any = node.kwargs.get("dim", node.args[position] if len(node.args) > position else None)
    if name in NAMES["loss"]:
        value = None
    if isinstance(value, bool) or value is None:
        return [rank - 1] if name in NAMES["last_axis"] and rank else range(rank)
    values = value if isinstance(value, list) else [value]
    axes = [v % rank for v in values if type(v) is int and rank]
    return axes or range(rank)


def _is_between_two(node: GraphNode) -> bool:
    """Tell whether `max` and the like are of two tensors, element by element."""
    return node.operator in ("max", "min") and len(node.args) > 1 and isinstance(node.args[1], dict)
