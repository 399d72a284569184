"""Names for regions, by what stands in them. Nothing is fused or judged by these names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod

from imports.models.graph_regions import GraphRegion
from imports.models.operator_graph import CUSTOM, RANDOM, GraphNode
from imports.models.operator_roles import NAMES, role_of

NARROW = ("i8", "u8", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")
LIBRARY_KINDS = {"product": "matrix product", "convolution": "convolution", "attention": "attention"}
ROTARY = "rotary embedding"
MOST_NAMED, MOST_LETTERS = 4, 48


def kind_of(region: GraphRegion) -> str:
    """Name what a region is."""
    names = {node.operator for node in region.operators}
    roles = [role_of(node) for node in region.operators]
    for role, kind in LIBRARY_KINDS.items():
        if role in roles:
            return _with_surroundings(region, kind, role)
    if "recurrent" in roles:
        return "recurrent layer"
    return next((kind for kind, holds in RULES if holds(region, names)), _plain_kind(region, names))


def _with_surroundings(region: GraphRegion, kind: str, role: str) -> str:
    position = next(i for i, node in enumerate(region.operators) if role_of(node) == role)
    narrow = any(t.dtype in NARROW for t in region.inputs)
    before = " with widened operands" if position and narrow else " with repeated operands" if position else ""
    behind = (" and" if before else " with") + " its epilogue" if region.operators[position + 1 :] else ""
    return f"{kind}{before}{behind}"


def _is_norm(region: GraphRegion, names: set[str]) -> bool:
    fused = NAMES["norm"] | NAMES["group_norm"] | NAMES["batch_norm"]
    in_steps = names & NAMES["statistic"] and names & NAMES["root"] and region.group.rows is not None
    return bool(names & fused and region.group.rows) or bool(in_steps)


def _is_rotary(region: GraphRegion, names: set[str]) -> bool:
    """Two halves, or pairs, of one tensor, each multiplied, and added or subtracted across."""
    products = [node for node in region.operators if node.operator == "mul"]
    sliced = {"split", "chunk", "slice", "select", "unbind", "getitem", "view_as_complex", "index"}
    has_parts = any(node.operator in sliced or node.target == "getitem" for node in region.nodes)
    is_joined = bool(names & {"cat", "stack", "roll", "view_as_real"}) or "view_as_complex" in _views(region)
    rotates = bool(names & {"neg", "sub"}) or "view_as_complex" in _views(region)
    return has_parts and is_joined and rotates and bool(products) and region.group.rows is None


def _views(region: GraphRegion) -> set[str]:
    return {node.operator for node in region.nodes}


def _has_residual(region: GraphRegion) -> bool:
    first = next((n for n in region.operators if n.operator == "add"), None)
    before_norm = first is not None and any(
        role_of(n) == "row" for n in region.operators[region.operators.index(first) :]
    )
    return before_norm and sum(_is_full(region, t.shape) for t in region.inputs) > 1


def _is_full(region: GraphRegion, shape: Sequence[int]) -> bool:
    return prod(shape) >= region.group.space


def _norm_kind(region: GraphRegion, names: set[str]) -> str:
    residual = " with its residual" if _has_residual(region) else ""
    narrowed = any(t.dtype in NARROW for t in region.outputs) or "round" in names
    quantised = (" and" if residual else " with") + " quantisation" if narrowed else ""
    return f"normalisation{residual}{quantised}"


Rule = tuple[str, Callable[[GraphRegion, set[str]], bool]]
RULES: tuple[Rule, ...] = (
    ("own operator", lambda r, n: any(CUSTOM in node.traits for node in r.operators)),
    ("random numbers", lambda r, n: any(RANDOM in node.traits for node in r.operators)),
    ("sampling", lambda r, n: bool(n & NAMES["sort"]) or (bool(n & {"argmax"}) and bool(n & NAMES["softmax"]))),
    ("loss", lambda r, n: bool(n & (NAMES["loss"] | {"nll_loss_backward", "_log_softmax_backward_data"}))),
    ("softmax with its mask", lambda r, n: bool(n & NAMES["softmax"]) and (bool(n & NAMES["mask"]) or _adds_mask(r))),
    ("softmax", lambda r, n: bool(n & NAMES["softmax"])),
    (ROTARY, _is_rotary),
    ("scan", lambda r, n: bool(n & NAMES["scan"])),
    ("activation with its gate", lambda r, n: bool(n & NAMES["activation"]) and _has_gate(r) and not _is_norm(r, n)),
)


def _adds_mask(region: GraphRegion) -> bool:
    """Tell whether something smaller is added before the softmax, as a mask that many rows share."""
    small = {t.name for t in region.inputs if not _is_full(region, t.shape)}
    return any(n.operator == "add" and small & set(n.reads()) for n in region.operators)


def _has_gate(region: GraphRegion) -> bool:
    """Tell whether two values of one size, one of them an activation's, are multiplied."""
    activated = {node.name for node in region.operators if node.operator in NAMES["activation"]}
    return any(n.operator == "mul" and len(n.reads()) > 1 and activated & set(n.reads()) for n in region.operators)


def _plain_kind(region: GraphRegion, names: set[str]) -> str:
    if _is_norm(region, names):
        return _norm_kind(region, names)
    if names & NAMES["activation"]:
        return "activation"
    if "round" in names or any(t.dtype in NARROW and names & {"_to_copy", "to"} for t in region.outputs):
        return "quantisation"
    roles = {role_of(node) for node in region.operators}
    if "barrier" in roles:
        return "scatter" if any("index_" in n or "scatter" in n for n in names) else "other operator"
    if "row" in roles:
        return "reduction"
    if names <= NAMES["gather"]:
        return "gather"
    if names <= NAMES["movement"]:
        return "copy"
    return "element-wise chain" if len(region.operators) > 1 else "element-wise"


def slug_of(region: GraphRegion) -> str:
    """Name a region by its operators, as an identifier: `add_rms_norm`."""
    if kind_of(region) == ROTARY:
        return "rotary"
    words = list(dict.fromkeys(_word(node) for node in region.operators))
    if len(words) > MOST_NAMED:
        telling = [w for w in words if w not in ("mul", "add", "sub", "div", "to_copy", "clone", "neg")]
        words = (telling or words)[:MOST_NAMED]
    name = re.sub(r"\W+", "_", "_".join(words)).strip("_")[:MOST_LETTERS].strip("_") or "region"
    return name if name[0].isalpha() else f"r_{name}"


def _word(node: GraphNode) -> str:
    return node.operator.strip("_").replace("scaled_dot_product_attention", "attention")
