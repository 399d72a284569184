"""An fx graph of PyTorch as an OperatorGraph. In the scan's own process only."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch.export.graph_signature import InputKind

from imports.models.operator_graph import CUSTOM, DYNAMIC, POINTWISE, RANDOM, REDUCTION, VIEW, GraphNode, OperatorGraph
from imports.refusal import ImportRefused
from imports.traced_graph import DTYPES
from records.model_scan import ModelTensor

WEIGHT, CONSTANT = "weight", "constant"
ROLES = {InputKind.PARAMETER: WEIGHT, InputKind.BUFFER: WEIGHT, InputKind.CONSTANT_TENSOR: CONSTANT}
WRAPPERS = ("wrap_with_set_grad_enabled", "wrap_with_autocast")  # with this many arguments before the subgraph
BEFORE = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
OWN = ("aten", "prim", "quantized", "quantized_decomposed", "higher_order", "_quantized")  # namespaces of PyTorch
SILENT = (
    "_assert_scalar",
    "_assert_async",
    "sym_constrain_range_for_size",
    "sym_constrain_range",
    "_assert_tensor_metadata",
)
Sizes = Mapping[str, tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]]  # of the results of nodes, as they occurred


def role_table(program: Any) -> dict[str, str]:
    """Give the role of each placeholder of an exported program."""
    return {spec.arg.name: ROLES.get(spec.kind, "") for spec in program.graph_signature.input_specs}


class GraphWriter:
    """Writes one graph; `prefix` stands before the names of its nodes."""

    def __init__(self, prefix: str = "", sizes: Sizes | None = None) -> None:
        self._prefix, self._sizes = prefix, sizes or {}
        self._nodes: list[GraphNode] = []
        self._inputs: list[ModelTensor] = []
        self._values: dict[Any, Any] = {}  # fx nodes, and the encoded values that stand for them

    def written(self, module: Any, roles: Mapping[str, str]) -> OperatorGraph:
        """Write the graph of a GraphModule."""
        outputs: Any = ()
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._add_input(node, roles.get(node.name, ""))
            elif node.op == "get_attr":
                self._add_attribute(module, node)
            elif node.op == "output":
                outputs = self._flat(node.args[0])
            else:
                self._add_call(module, node)
        names = dict.fromkeys(v["node"] for v in outputs if isinstance(v, dict) and "node" in v)
        return OperatorGraph(tuple(self._inputs), tuple(self._nodes), tuple(names))

    def _add_input(self, node: Any, role: str) -> None:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            name = self._prefix + node.name
            self._inputs.append(tensor_of(name, value, role))
            self._values[node] = {"node": name}
        else:
            self._values[node] = self._encoded(value)

    def _add_attribute(self, module: Any, node: Any) -> None:
        value = module
        for part in node.target.split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor):
            name = self._prefix + node.name
            self._inputs.append(tensor_of(name, value, CONSTANT))
            self._values[node] = {"node": name}
        else:
            self._values[node] = value

    def _add_call(self, module: Any, node: Any) -> None:
        target = node.target
        plain = getattr(target, "__name__", str(target))
        if plain in WRAPPERS and self._inlined(module, node, BEFORE[plain]):
            return
        value = node.meta.get("val")
        if target is operator.getitem and isinstance(self._values.get(node.args[0]), list):
            self._values[node] = self._values[node.args[0]][node.args[1]]
            return
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)):
            self._values[node] = self._encoded(value)
            return
        name = self._prefix + node.name
        tensors = [v for v in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(v, torch.Tensor)]
        if not tensors and plain.split(".")[0] in SILENT:
            return
        sizes = self._sizes.get(node.name, ())
        results = tuple(
            tensor_of(name, t, size=sizes[i] if len(sizes) == len(tensors) else None) for i, t in enumerate(tensors)
        )
        traits = _traits(node, any(-1 in tensor_of("", t).shape for t in tensors))
        if target is operator.getitem:
            target_name = "getitem"
            source = self._values[node.args[0]]["node"]
            traits = tuple(t for n in self._nodes if n.name == source for t in n.traits if t in (VIEW, RANDOM))
        else:
            target_name = target_text(target)
        arguments = tuple(self._encoded(a) for a in node.args)
        keywords = {k: self._encoded(v) for k, v in node.kwargs.items() if k != "pin_memory"}
        self._nodes.append(GraphNode(name, target_name, arguments, keywords, results, traits))
        self._values[node] = {"node": name}

    def _inlined(self, module: Any, node: Any, before: int) -> bool:
        """Write a subgraph that only sets a mode in its place."""
        inner = self._values.get(node.args[before])
        if not isinstance(inner, torch.fx.GraphModule):
            return False
        prefix, self._prefix = self._prefix, f"{self._prefix}{node.name}."
        arguments = iter(node.args[before + 1 :])
        result: Any = ()
        for part in inner.graph.nodes:
            if part.op == "placeholder":
                self._values[part] = self._encoded(next(arguments))
            elif part.op == "get_attr":
                self._add_attribute(inner, part)
            elif part.op == "output":
                result = part.args[0]
            else:
                self._add_call(inner, part)
        self._prefix = prefix
        parts = result if isinstance(result, (list, tuple)) else [result]
        self._values[node] = [self._encoded(p) for p in parts]
        return True

    def _flat(self, value: Any) -> list[Any]:
        parts = value if isinstance(value, (list, tuple)) else [value]
        encoded = [self._encoded(part) for part in parts]
        return [element for value in encoded for element in (value if isinstance(value, list) else [value])]

    def _encoded(self, value: Any) -> Any:
        """Write an argument: a literal, a list, or a dict with one key."""
        if isinstance(value, torch.fx.Node):
            return self._values.get(value)
        if isinstance(value, (list, tuple)):
            return [self._encoded(v) for v in value]
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return {"symbol": ""}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if isinstance(value, torch.dtype):
            return {"dtype": type_name(value)}
        if isinstance(value, torch.device):
            return {"device": value.type}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value).removeprefix("torch.")}
        if isinstance(value, torch.layout):
            return {"layout": str(value).removeprefix("torch.")}
        return value if isinstance(value, (bool, int, float, str, type(None))) else {"other": type(value).__name__}


def target_text(target: Any) -> str:
    """Write an operator as `aten.mul.Tensor`."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target) if str(target).count(".") == 2 else f"{target}.default"
    return f"higher_order.{getattr(target, '__name__', str(target))}.default"


def type_name(dtype: torch.dtype) -> str:
    """Name a type as tasks do, or as PyTorch does where tasks have none."""
    try:
        return DTYPES[dtype]
    except ImportRefused:
        return str(dtype).removeprefix("torch.")


def tensor_of(name: str, value: Any, role: str = "", size: Any = None) -> ModelTensor:
    """Describe a tensor; -1 stands for a size that depends on values."""
    shape, stride = size or (value.shape, value.stride() if value.layout is torch.strided else ())
    lengths = tuple(v if isinstance(v, int) else -1 for v in shape)
    return ModelTensor(
        name, type_name(value.dtype), lengths, tuple(v if isinstance(v, int) else -1 for v in stride), role
    )


def _traits(node: Any, is_dynamic: bool) -> tuple[str, ...]:
    """Tell what PyTorch itself says of an operator."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return (CUSTOM,) if target is not operator.getitem else ()
    returns = target._schema.returns
    aliases = [r.alias_info for r in returns]
    traits = [VIEW] if aliases and all(a is not None and not a.is_write for a in aliases) else []
    tags = target.tags
    traits += [POINTWISE] if torch.Tag.pointwise in tags and VIEW not in traits else []
    traits += [REDUCTION] if getattr(torch.Tag, "reduction", None) in tags else []
    traits += [RANDOM] if torch.Tag.nondeterministic_seeded in tags and _draws(node) else []
    traits += [VIEW] if target._schema.name == "aten::dropout" and RANDOM not in traits else []
    traits += [DYNAMIC] if is_dynamic else []
    return tuple(traits if target.namespace in OWN else [*traits, CUSTOM])


def _draws(node: Any) -> bool:
    """Tell whether a call of an operator that may draw numbers does so."""
    schema = node.target._schema
    values = dict(zip((a.name for a in schema.arguments), node.args, strict=False)) | dict(node.kwargs)
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    values = defaults | values
    if values.get("train") is False or values.get("training") is False:
        return False
    rates = [values[n] for n in ("p", "dropout", "dropout_p") if isinstance(values.get(n), (int, float))]
    return not rates or any(r > 0 for r in rates)
