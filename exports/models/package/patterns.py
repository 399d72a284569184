"""A region's pattern as a graph, and the places of a model's graph where it stands, by structure alone."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from exports.models.package.graphs import name_of, root, traced

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3fn": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
# Arguments that say where and not what; PyTorch without a GPU leaves cuDNN out.
_PLACES = ("device", "layout", "pin_memory", "non_blocking", "cudnn_enable", "cudnn_enabled")
_SIZES = (
    "view",
    "reshape",
    "expand",
    "_unsafe_view",
    "slice",
    "split",
    "ones",
    "zeros",
    "full",
    "arange",
    "split_with_sizes",
)
Bound = dict[torch.fx.Node, torch.fx.Node]  # nodes of a pattern and those of the model


@dataclass(frozen=True)
class PatternMatch:
    """One place: nodes of the model for the pattern's inputs, its outputs, and all that it computes."""

    inputs: tuple[torch.fx.Node, ...]
    outputs: tuple[torch.fx.Node, ...]
    inner: tuple[torch.fx.Node, ...]
    is_exact: bool  # False where sizes among the arguments differ


class Pattern:
    """The subgraph of one region."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        """Take what `pattern.json` holds; ValueError for operators that this PyTorch does not have."""
        self._record = record
        with FakeTensorMode():
            inputs = [_empty(row) for row in record["inputs"]]
            self.module = traced(self.run, inputs)
        self.graph = self.module.graph
        nodes = list(self.graph.nodes)
        self.inputs = [node for node in nodes if node.op == "placeholder"]
        returned = nodes[-1].args[0]
        self.outputs = list(returned if isinstance(returned, list | tuple) else [returned])
        self.calls = [node for node in nodes if node.op == "call_function"]

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """Compute the region as the model does."""
        values: dict[tuple[str, str], Any] = {
            ("input", row["name"]): value for row, value in zip(self._record["inputs"], inputs, strict=True)
        }
        for row in self._record["nodes"]:
            arguments = [_value(argument, values) for argument in row["args"]]
            arguments_by_name = {name: _value(argument, values) for name, argument in row["kwargs"].items()}
            values["node", row["name"]] = _operator(row["target"])(*arguments, **arguments_by_name)
        return tuple(values["node", name] for name in self._record["outputs"])

    def matches(self, graph: torch.fx.Graph) -> list[PatternMatch]:
        """List the places where it stands, in the graph's order; no two share an operator."""
        matches, used_nodes = list[PatternMatch](), set[torch.fx.Node]()
        by_target = dict[Any, list[torch.fx.Node]]()
        for node in graph.nodes:
            if node.op == "call_function":
                by_target.setdefault(node.target, []).append(node)
        for start in by_target.get(self.calls[0].target, []) if self.calls else []:
            bound = next(self._bound({}, 0, by_target, start, used_nodes), None)
            if bound is not None:
                match = self._match(bound)
                used_nodes.update(match.inner)
                matches.append(match)
        return matches

    def _match(self, bound: Bound) -> PatternMatch:
        inner = tuple(bound[node] for node in self.calls)
        exact = all(_agrees(node, bound[node], bound, is_strict=True) is not None for node in self.calls)
        return PatternMatch(tuple(bound[n] for n in self.inputs), tuple(bound[n] for n in self.outputs), inner, exact)

    def _bound(
        self,
        bound: Bound,
        place: int,
        by_target: Mapping[Any, Sequence[torch.fx.Node]],
        start: torch.fx.Node | None,
        taken: set[torch.fx.Node],
    ) -> Iterator[Bound]:
        """Bind the calls from this place on, in their order; each next one is looked for near what is bound."""
        if place == len(self.calls):
            if self._is_closed(bound):
                yield bound
            return
        pattern_node = self.calls[place]
        for node in [start] if start is not None else _candidates(pattern_node, bound, by_target):
            if node in taken or node in bound.values():
                continue
            further = _agrees(pattern_node, node, bound, is_strict=False)
            if further is not None:
                yield from self._bound({**bound, **further, pattern_node: node}, place + 1, by_target, None, taken)

    def _is_closed(self, bound: Bound) -> bool:
        """Tell whether nothing outside reads an inner value; views of inputs may be read."""
        inner = {bound[node] for node in self.calls}
        outputs = {bound[node] for node in self.outputs}
        closed = all(
            node in outputs or root(node) not in inner or all(user in inner for user in node.users) for node in inner
        )
        return closed and len(set(bound.values())) == len(bound) - self._repeated(bound)

    def _repeated(self, bound: Bound) -> int:
        """Count inputs that are bound to the node of another input, as in `mul(x, x)` of two equal ones."""
        values = [bound[node] for node in self.inputs if node in bound]
        return len(values) - len(set(values))


def _candidates(
    wanted: torch.fx.Node, bound: Bound, by_target: Mapping[Any, Sequence[torch.fx.Node]]
) -> Sequence[torch.fx.Node]:
    """List nodes that a call may be: users of an argument that is bound, else all of its operator."""
    for argument in wanted.all_input_nodes:
        if argument in bound:
            return [user for user in bound[argument].users if user.target == wanted.target]
    return by_target.get(wanted.target, [])


def _agrees(wanted: torch.fx.Node, node: torch.fx.Node, bound: Bound, is_strict: bool) -> Bound | None:
    """Bind what the arguments ask for; None where they differ. Sizes may differ where it is not strict."""
    if wanted.target != node.target:
        return None
    mine, theirs = _arguments(wanted), _arguments(node)
    further: Bound = {}
    may_differ = not is_strict and name_of(wanted.target).split(".")[1:2] and _takes_sizes(wanted.target)
    for name in {**mine, **theirs}:
        if name not in _PLACES and not _same(
            mine.get(name), theirs.get(name), {**bound, **further}, further, may_differ
        ):
            return None
    return further


def _takes_sizes(target: Any) -> bool:
    words = name_of(target).split(".")
    return len(words) > 1 and words[1] in _SIZES


def _same(mine: Any, theirs: Any, bound: Bound, further: Bound, may_differ: Any) -> bool:
    if isinstance(mine, torch.fx.Node):
        if not isinstance(theirs, torch.fx.Node):
            return False
        if mine in bound or mine in further:
            return {**bound, **further}[mine] is theirs
        if mine.op != "placeholder":
            return False
        further[mine] = theirs
        return True
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        if len(mine) != len(theirs):
            return False
        return all(_same(a, b, bound, further, may_differ) for a, b in zip(mine, theirs, strict=True))
    if isinstance(mine, int | float) and isinstance(theirs, int | float) and not isinstance(theirs, torch.fx.Node):
        is_size = isinstance(mine, int) and isinstance(theirs, int) and not isinstance(mine, bool)
        return mine == theirs or (bool(may_differ) and is_size) or (mine != mine and theirs != theirs)
    return bool(type(mine) is type(theirs) and mine == theirs)


def _arguments(node: torch.fx.Node) -> dict[str, Any]:
    """Map arguments by name, those left out with their defaults, without what means the default."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return {str(position): value for position, value in enumerate(node.args)} | dict(node.kwargs)
    arguments_by_name = dict[str, Any]()
    for position, argument in enumerate(node.target._schema.arguments):
        is_stated = position < len(node.args) or argument.name in node.kwargs
        value = (
            node.args[position] if position < len(node.args) else node.kwargs.get(argument.name, argument.default_value)
        )
        if is_stated or argument.has_default_value():
            arguments_by_name[argument.name] = None if value == torch.preserve_format else value
    return arguments_by_name


def _empty(row: Mapping[str, Any]) -> torch.Tensor:
    return torch.empty_strided(row["shape"], row["stride"], dtype=dtype_of(row["dtype"]))


def dtype_of(name: str) -> torch.dtype:
    """Find PyTorch's type by a task's name for it or its own; ValueError where it has none."""
    dtype = DTYPES.get(name) or getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"this PyTorch has no type {name}")
    return dtype


def _operator(target: str) -> Any:
    if target == "getitem":
        return operator.getitem
    matches: Any = torch.ops
    for word in target.split("."):
        try:
            matches = getattr(matches, word)
        except AttributeError:
            raise ValueError(f"this PyTorch has no operator {target}") from None
    return matches


def _value(argument: Any, values: Mapping[tuple[str, str], Any]) -> Any:
    """Read an argument of pattern.json: a literal, a list, or a dict with one key."""
    if isinstance(argument, list | tuple):
        return [_value(one, values) for one in argument]
    if not isinstance(argument, Mapping):
        return argument
    ((kind, word),) = argument.items()
    match kind:
        case "node" | "input":
            return values[kind, word]
        case "dtype":
            return dtype_of(word)
        case "device":
            return torch.device("cpu")  # patterns are compared without places
        case "float":
            return float(word)
        case "memory_format" | "layout":
            return getattr(torch, str(word).removeprefix("torch."))
    raise ValueError(f"a pattern has the argument {kind!r}, which this package does not know")
