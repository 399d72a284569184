"""A region as a function of PyTorch: `region(...)` of aten operators, and `get_inputs()`, whose sizes have names.

Inputs and results that are dense but permuted stand in the order of their memory, so that a kernel sees what is there.
Sizes below 8 stay numbers. A size has one name wherever it stands; where views or products move no axes, equal sizes of
different axes have different names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from imports.models.graph_regions import GraphRegion, is_contiguous, memory_order
from imports.models.operator_roles import INDEX_ARGUMENT, NAMES, role_of
from records.model_scan import ModelTensor, PatternNode

LEAST_SIZE, MOST_FACTOR = 8, 64
TORCH_TYPES = {
    **{"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "bool": "bool", "u8": "uint8"},
    **{f"i{n}": f"int{n}" for n in (64, 32, 16, 8)},
    **{name: f"float8_{name}" for name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")},
}


@dataclass
class SizeNames:
    """Names of sizes: by value, or by value and axis from the end where no axis moves."""

    by_axis: bool
    names: dict[tuple[int, int], str] = field(default_factory=dict)

    def of_axis(self, length: int, axis_from_end: int) -> str:
        """Write a size of an input."""
        if length < LEAST_SIZE:
            return str(length)
        key = (length, axis_from_end if self.by_axis else 0)
        return self.names.setdefault(key, f"n{len(self.names)}")

    def of_number(self, value: int) -> str:
        """Write a whole number that may be a size, or follow from some."""
        if value < LEAST_SIZE:
            return str(value)
        names = {length: name for (length, _), name in self.names.items()}
        if value in names:
            return names[value]
        multiples = [n for n in names if value % n == 0 and (value // n in names or value // n < MOST_FACTOR)]
        parts = [n for n in names if n % value == 0 and n // value < MOST_FACTOR]
        if parts and (not multiples or min(parts) // value < value // max(multiples)):
            return f"{names[min(parts)]} // {min(parts) // value}"
        if multiples:
            length = max(multiples)
            return f"{names[length]} * {names.get(value // length, value // length)}"
        return str(value)


@dataclass(frozen=True)
class RegionText:
    """The text of a region, its sizes, and the text without their values, which regions of other sizes share."""

    text: str
    sizes: Mapping[str, int]
    family: str


def region_text(name: str, model: str, region: GraphRegion) -> RegionText:
    """Write the file."""
    operators = {node.operator for node in region.nodes}
    sizes = SizeNames(by_axis=not operators & NAMES["moves_axes"])
    pattern = region.pattern
    draws = [f"        {_draw(t, region, pattern.nodes, sizes)},  # {t.name}" for t in pattern.inputs]
    body = [line for t in pattern.inputs if (line := _unpermuted(t))]
    body += [f"    {node.name} = {_call(node, sizes)}" for node in pattern.nodes]
    results = [_permuted(name, tensor) for name, tensor in zip(pattern.outputs, region.outputs, strict=True)]
    targets = ", ".join(dict.fromkeys(node.target for node in pattern.nodes if node.target != "getitem"))
    parameters = ", ".join(t.name for t in pattern.inputs)
    lines = ["", "", f"def region({parameters}):", *body, f"    return {', '.join(results)}", "", ""]
    lines += ["def get_inputs():", "    return [", *draws, "    ]", ""]
    constants = {n: length for (length, _), n in sizes.names.items()}
    head = [f'"""Region {name} of {model}: {targets}."""', "", "import torch", ""]
    numbers = [f"{n} = {length}" for n, length in constants.items()]
    return RegionText("\n".join([*head, *numbers, *lines]), constants, "\n".join(lines))


def _draw(tensor: ModelTensor, region: GraphRegion, nodes: Sequence[PatternNode], sizes: SizeNames) -> str:
    """Draw an input by its distribution: places within their table, weights of a norm about 1, others normal."""
    order = memory_order(tensor) if tensor.shape else ()
    rank = len(tensor.shape)
    shape = ", ".join(sizes.of_axis(tensor.shape[axis], rank - axis) for axis in order)
    kind = TORCH_TYPES[tensor.dtype]
    if tensor.dtype == "bool":
        return f"torch.rand({_shape(shape)}) < 0.7"
    if tensor.dtype in ("i64", "i32"):
        limit = _limit(tensor.name, region, nodes, sizes)
        return f"torch.randint(0, {limit}, ({shape}{',' if rank == 1 else ''}), dtype=torch.{kind})"
    if tensor.dtype in ("i16", "i8", "u8"):
        low, high = {"i16": (-128, 128), "i8": (-127, 128), "u8": (0, 256)}[tensor.dtype]
        return f"torch.randint({low}, {high}, ({shape}{',' if rank == 1 else ''}), dtype=torch.{kind})"
    normal = f"torch.randn({_shape(shape)})"
    if _is_scale(tensor, nodes):
        return f"(1 + 0.1 * {normal}).to(torch.{kind})"
    if (steepness := _steepness(nodes)) > 1 and prod(tensor.shape) >= region.group.space:
        normal = f"({steepness:.3g} * {normal})"
    return f"{normal}.to(torch.{kind})" if kind != "float32" else normal


def _steepness(nodes: Sequence[PatternNode]) -> float:
    """Find what a softmax's rows must be multiplied by to be as steep as without the scale before it."""
    names = [node.target.split(".")[1] if node.target.count(".") == 2 else "" for node in nodes]
    ends = [i for i, name in enumerate(names) if name in NAMES["softmax"]]
    factor = 1.0
    for name, node in zip(names[: ends[0]] if ends else [], nodes, strict=False):
        numbers = [abs(a) for a in node.args[1:2] if isinstance(a, (int, float)) and not isinstance(a, bool) and a]
        if name == "mul" and numbers:
            factor /= numbers[0]
        elif name == "div" and numbers:
            factor *= numbers[0]
    return factor


def _shape(text: str) -> str:
    return text or "()"


def _is_scale(tensor: ModelTensor, nodes: Sequence[PatternNode]) -> bool:
    """Tell whether an input is the first weight of a norm, or a variance that it divides by."""
    for node in nodes:
        name = node.target.split(".")[1] if node.target.count(".") == 2 else ""
        if name in NAMES["norm"] | NAMES["group_norm"] | NAMES["batch_norm"] or "batch_norm" in name:
            inputs = [a.get("input") for a in node.args if isinstance(a, dict)]
            if tensor.name in inputs[1:] and "batch_norm" in name:
                return tensor.name in (inputs[1], *inputs[4:5])
            return tensor.name in inputs[1:2]
    return False


def _limit(name: str, region: GraphRegion, nodes: Sequence[PatternNode], sizes: SizeNames) -> str:
    """Find the number that places in an input lie below: the length of the axis that they index."""
    shapes = {t.name: t.shape for t in region.pattern.inputs}
    for node in nodes:
        short = node.target.split(".")[1] if node.target.count(".") == 2 else ""
        positions = INDEX_ARGUMENT.get(short)
        if positions is None or len(node.args) <= max(positions):
            continue
        table, index, axis = node.args[positions[0]], node.args[positions[1]], 0
        if short not in ("embedding", "index") and type(node.args[1]) is int:
            axis = node.args[1]
        indices = index if isinstance(index, list) else [index]
        for number, part in enumerate(indices):
            if isinstance(part, dict) and part.get("input") == name and isinstance(table, dict):
                shape = shapes.get(table.get("input", ""), ())
                if shape:
                    axis = number if isinstance(index, list) else axis
                    return sizes.of_axis(shape[axis], len(shape) - axis % len(shape))
    return "2"


def _unpermuted(tensor: ModelTensor) -> str:
    """Bring an input from the order of its memory to that of its axes; nothing where they are the same."""
    if is_contiguous(tensor):
        return ""
    order = memory_order(tensor)
    back = [order.index(axis) for axis in range(len(order))]
    return "" if back == sorted(back) else f"    {tensor.name} = torch.ops.aten.permute.default({tensor.name}, {back})"


def _permuted(name: str, tensor: ModelTensor) -> str:
    order = list(memory_order(tensor))
    if is_contiguous(tensor) or order == sorted(order):
        return name
    return f"torch.ops.aten.permute.default({name}, {order})"


def _call(node: PatternNode, sizes: SizeNames) -> str:
    """Write a call."""
    is_sized = node.target.split(".")[1:2] and node.target.split(".")[1] in NAMES["sized"]
    arguments = [repr(a) if type(a) is int and not is_sized else _argument(a, sizes) for a in node.args]
    if node.target == "getitem":
        return f"{arguments[0]}[{arguments[1]}]"
    keywords = {k: v for k, v in node.kwargs.items() if not (isinstance(v, dict) and {"device", "layout"} & set(v))}
    arguments += [f"{k}={_argument(v, sizes)}" for k, v in keywords.items()]
    return f"torch.ops.{node.target}({', '.join(arguments)})"


def _argument(value: Any, sizes: SizeNames) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_argument(v, sizes) for v in value)}]"
    if isinstance(value, Mapping):
        key, content = next(iter(value.items()))
        match key:
            case "node" | "input":
                return str(content)
            case "dtype":
                return f"torch.{TORCH_TYPES.get(content, content)}"
            case "float":
                return f'float("{content}")'
            case "memory_format":
                return f"torch.{content}"
        return "None"
    if type(value) is int:
        return sizes.of_number(value)
    return repr(value)


def _is_open(value: Any) -> bool:
    """Tell whether an argument, at any depth, is known only while the model runs, or is a thing of Python's."""
    if isinstance(value, Mapping):
        return bool({"symbol", "other"} & set(value)) or any(map(_is_open, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_is_open, value))


def refusal_of(region: GraphRegion) -> str:
    """Say why a region cannot be written so; empty where it can."""
    values = (*region.inputs, *region.outputs)
    unknown = [t for t in values if t.dtype not in TORCH_TYPES]
    if unknown:
        return f"tasks have no type {unknown[0].dtype}"
    for node in region.operators:
        if "custom" in node.traits:
            return f"what {node.target} computes is not known"
        if "random" in node.traits:
            return f"{node.operator} draws random numbers"
        if any(-1 in t.shape for t in node.results) or (role_of(node) == "barrier" and "dynamic" in node.traits):
            return f"the size of what {node.operator} gives depends on values"
        if _is_open((node.args, node.kwargs)):
            return f"an argument of {node.operator} depends on values, or is none that a text can hold"
        if role_of(node) == "recurrent":
            return f"{node.operator} is a layer of many kernels"
    if any(-1 in t.shape for t in values):
        return "its sizes depend on values"
    from imports.models.graph_regions import is_dense

    gaps = [t for t in values if not is_dense(t)]
    if gaps:
        return f"{gaps[0].name} has gaps in memory: strides {list(gaps[0].stride)} of {list(gaps[0].shape)}"
    return "it has no result" if not region.outputs else "" if region.inputs else "it has no input"
