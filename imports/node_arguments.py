"""The arguments of ATen operations, read by their meaning."""

from __future__ import annotations

from typing import Any

from imports.graph import Graph, Number, Operation, Ref
from imports.refusal import RECORDS, ImportRefused

NUMPY_TYPES = {
    "i64": "np.int64",
    "i32": "np.int32",
    "i16": "np.int16",
    "i8": "np.int8",
    "u8": "np.uint8",
    "bool": "bool",
}


def plain(op: str) -> str:
    """`add` of `aten.add.Tensor`."""
    parts = op.split(".")
    return parts[1] if len(parts) > 1 else op


def kind(dtype: str) -> str:
    """Return the NumPy type: the one that is computed in, for every floating one."""
    return NUMPY_TYPES.get(dtype, "kind")


def tuple_of(sizes: Any) -> str:
    """Sizes as a Python tuple."""
    texts = [str(s) for s in sizes]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def reduced_axes(node: Operation, rank: int) -> list[int]:
    """List the axes that a reduction takes together, ascending."""
    axes = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    if axes is None or axes == []:
        return list(range(rank))
    return sorted(a % rank for a in (axes if isinstance(axes, list) else [axes])) if rank else []


def keeps(node: Operation) -> bool:
    """Tell whether a reduction leaves its axes with one element."""
    if node.op.startswith("prims"):
        return False
    return bool(node.kwargs.get("keepdim", node.args[2] if len(node.args) > 2 else False))


def correction_of(node: Operation) -> Any:
    """Return the number that a variance takes off the count."""
    if node.op.startswith("prims"):
        return node.args[2] if len(node.args) > 2 else node.kwargs.get("correction", 1)
    return node.kwargs.get("correction", 1) if node.kwargs.get("correction") is not None else 1


def pool_arguments(node: Operation) -> tuple[Any, list[int], list[int], list[int], list[int]]:
    """Input, kernel, stride, padding and dilation; ImportRefused for a rounding up of sizes."""
    args = list(node.args)
    kernel = list(args[1])
    rank = len(kernel)
    stride = list(args[2]) if len(args) > 2 and args[2] else kernel
    pad = list(args[3]) if len(args) > 3 else [0] * rank
    is_max = plain(node.op).startswith("max")
    dilation = list(args[4]) if is_max and len(args) > 4 else [1] * rank
    rounding = args[5] if is_max and len(args) > 5 else args[4] if not is_max and len(args) > 4 else False
    if rounding:
        raise ImportRefused(f"a pool with ceil_mode has no translation to NumPy yet; {RECORDS}")
    if any(isinstance(v, Number) for v in (*kernel, *stride, *pad)):
        raise ImportRefused(f"a pool whose window follows from the sizes has no translation to NumPy yet; {RECORDS}")
    return args[0], kernel, [v for v in (stride * rank)[:rank]], (pad * rank)[:rank], (dilation * rank)[:rank]


def pooled_shape(graph: Graph, node: Operation) -> Any:
    """Return the shape of the values of a maximum pool, which is that of its first item."""
    return next(n.shape for n in graph.nodes if n.op == "getitem" and n.args[0].name == node.name and n.args[1] == 0)


def pool_options(node: Operation) -> tuple[Any, Any, Any]:
    """Of a mean under windows: round sizes up, count the padding, divide by another number."""
    options = dict(enumerate(node.args[4:7]))
    return options.get(0, False), options.get(1, True), options.get(2)


def order_arguments(node: Operation) -> tuple[Any, int, bool, Any]:
    """Input, axis, whether the largest comes first, and the count of a sort or of its first elements; None for all."""
    if plain(node.op) == "topk":
        x, count, axis, largest = (*node.args, *(-1, True)[len(node.args) - 2 :])[:4]
        return x, axis, bool(largest), count
    arguments = node.args[2 if node.op.endswith("stable") else 1 :]
    axis, descending = (*arguments, *(-1, False)[len(arguments) :])[:2]
    return node.args[0], node.kwargs.get("dim", axis), bool(node.kwargs.get("descending", descending)), None


def masked_places(graph: Graph, node: Operation) -> bool:
    """Tell whether a mask alone says which elements are written, all of them with one value."""
    positions = node.args[1]
    is_mask = len(positions) == 1 and isinstance(positions[0], Ref) and graph.dtype_of(positions[0].name) == "bool"
    if not is_mask or plain(node.op) != "index_put" or any(node.args[3:4]):
        return False
    return not isinstance(node.args[2], Ref) or all(size == 1 for size in graph.shape_of(node.args[2].name))


def refuse_counted(graph: Graph, node: Operation) -> None:
    """ImportRefused for places that a mask counts out, unless all of them get one value."""
    has_mask = any(isinstance(i, Ref) and graph.dtype_of(i.name) == "bool" for i in node.args[1])
    if has_mask and not masked_places(graph, node):
        raise ImportRefused("it takes as many elements as a mask has, so its sizes depend on values")
