"""Types in which the products of a graph can be computed: of the narrowest values that hold their operands."""

from __future__ import annotations

from agents.product_kinds import KINDS
from imports.graph import Graph, Operation, refs
from imports.node_arguments import plain
from tasks.dtypes import size_bytes

PRODUCTS = ("mm", "bmm")
AS_HALF = ("e4m3fn", "e5m2")  # whose numbers are all half-precision ones, and which the matrix cores do not take
PEAKS = {
    **{"f16": "fp16_matrix", "bf16": "bf16_matrix", "i8": "int8_matrix"},
    **{"e4m3fnuz": "fp8_matrix", "e5m2fnuz": "fp8_matrix"},
}
CARRIES = (
    *("to_copy", "convert_element_type", "view", "view_copy", "reshape", "unsafe_view", "permute", "permute_copy", "t"),
    *("t_copy", "transpose", "transpose_copy", "expand", "expand_copy", "clone", "unsqueeze", "squeeze", "detach"),
)


def is_product(node: Operation) -> bool:
    """Tell whether a node is a product of matrices."""
    return plain(node.op) in PRODUCTS and bool(node.dtype)


def peak_of(graph: Graph) -> str:
    """Name the rate that bounds the products of a graph; "" where the vector units compute them."""
    kinds = operand_kinds(graph)
    peaks = {PEAKS.get(kind, "") for kind in kinds}
    return peaks.pop() if len(peaks) == 1 else ""


def operand_kinds(graph: Graph) -> set[str]:
    """Name the types that the products of a graph multiply: those of the narrowest values that hold the operands."""
    products = [node for node in graph.nodes if is_product(node)]
    return {common_type(*(narrowest(graph, part.name) for part in node.args[:2])) for node in products}


def narrowest(graph: Graph, name: str) -> str:
    """Find the narrowest type that a value has had on its way from memory, or from what computed it."""
    nodes, dtype = {n.name: n for n in graph.nodes}, graph.dtype_of(name)
    while name in nodes and plain(nodes[name].op).strip("_") in CARRIES:
        name = next(refs(list(nodes[name].args)))
        dtype = min(dtype, graph.dtype_of(name), key=size_bytes)
    return dtype


def common_type(left: str, right: str) -> str:
    """Find the narrowest type of the matrix cores that holds both operands; "" where there is none."""
    left, right = ("f16" if dtype in AS_HALF else dtype for dtype in (left, right))
    if left == right:
        return left if left in KINDS else ""
    kinds = {left, right}
    if not kinds <= {"f32", "f16", "bf16", "e4m3fnuz", "e5m2fnuz"}:
        return ""
    wider = [dtype for dtype in ("f32", "f16", "bf16") if dtype in kinds]
    return wider[0] if len(wider) == 1 else "f16" if not wider else "f32"
