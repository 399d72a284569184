"""The graph of a function: traced under several sets of constants, numbers fitted. In the import's own process only."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from imports.decomposed import own_decompositions
from imports.exact_constants import exact
from imports.fitted_sizes import Sizes
from imports.fitting import Fitting
from imports.graph import COMPLEX, Graph, Operation, Ref, Tensor
from imports.handed import with_handed
from imports.in_place import updates
from imports.names import free_name
from imports.node_arguments import masked_places
from imports.refusal import RECORDS, ImportRefused
from imports.results import results_of
from imports.source_file import Instance


class _Types(dict[torch.dtype, str]):
    """Types of tasks; ImportRefused for one that tasks do not have."""

    def __missing__(self, dtype: torch.dtype) -> str:
        raise ImportRefused(f"it computes in {dtype}, and tasks have no such type")


DTYPES: Mapping[torch.dtype, str] = _Types(
    {
        torch.float64: "f64",
        torch.float32: "f32",
        torch.float16: "f16",
        torch.bfloat16: "bf16",
        torch.int64: "i64",
        torch.int32: "i32",
        torch.int16: "i16",
        torch.int8: "i8",
        torch.uint8: "u8",
        torch.bool: "bool",
        torch.float8_e4m3fn: "e4m3fn",
        torch.float8_e5m2: "e5m2",
        torch.float8_e4m3fnuz: "e4m3fnuz",
        torch.float8_e5m2fnuz: "e5m2fnuz",
        torch.complex64: COMPLEX,
        torch.complex128: COMPLEX,
    }
)
RANDOM = ("bernoulli", "rand", "randn", "uniform", "normal", "native_dropout", "multinomial", "randint", "randperm")
FLOATS = ("f64", "f32", "f16", "bf16", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")
READ_VALUE = "aten._local_scalar_dense"  # that the tracer names where a tensor becomes a number of Python
LAST_STAYS = "of several values for one place the last one stays"
MOST_CONSTANT = 64  # elements of a tensor that a file makes itself


@functools.cache
def decompositions() -> dict[Any, Any]:
    """Operations that become others: those that ATen has for training and inference together."""
    a = torch.ops.aten
    more = [
        a.native_layer_norm,
        a.native_group_norm,
        a._native_batch_norm_legit,
        a._native_batch_norm_legit.no_stats,
        a._native_batch_norm_legit_functional,
        a.native_batch_norm,
        a._softmax,
        a._log_softmax,
        a.gelu,
        a.leaky_relu,
        a.elu,
        a.hardtanh,
        a.mean,
        a.addmm,
        a.var_mean,
        a.upsample_bilinear2d,
        a.split_with_sizes,
    ]
    return {**core_aten_decompositions(), **get_decompositions(more), **own_decompositions()}


@dataclass(frozen=True)
class Trace:
    """One run of the tracer: its fx nodes in order, the names of its inputs, and the values at the end."""

    nodes: list[Any]
    names: list[str]
    ends: list[Any]
    updates: list[tuple[str, Any]]  # state that changes, and the value that it gets
    instance: Instance
    constants: Mapping[str, torch.Tensor]

    @property
    def key(self) -> tuple[str, ...]:
        """The operations, which must be the same under other constants."""
        return tuple(str(n.target) for n in self.nodes)


def trace(instance: Instance, dims: Collection[str] = ()) -> Trace:
    """Trace one instance; ImportRefused for what is no function of its inputs. No value has the name of a dim."""
    tensors = [i for i, a in enumerate(instance.arguments) if isinstance(a, torch.Tensor)]
    state_names = list(instance.state)

    def function(*values: Any) -> Any:
        state = dict(zip(state_names, values, strict=False))
        arguments = list(instance.arguments)
        for index, value in zip(tensors, values[len(state_names) :], strict=True):
            arguments[index] = value
        return results_of(instance.call(state, tuple(arguments)))

    def traced(values: Sequence[Any]) -> Any:
        module = make_fx(functionalize(function, remove="mutations_and_views"), decompositions())(*values)
        module.graph.eliminate_dead_code()
        return module

    values = [*instance.state.values(), *(instance.arguments[i] for i in tensors)]
    with torch.no_grad():
        try:
            module = traced(values)
        except RuntimeError as error:
            if READ_VALUE in str(error):
                raise ImportRefused(f"its operations depend on the values of its inputs; {RECORDS}") from None
            raise
    names = [f"w_{n.replace('.', '_')}" for n in state_names] + [instance.names[i] for i in tensors]
    updated = updates(module.graph, names)
    nodes, constants = [], {}
    holders = dict(zip([n for n in module.graph.nodes if n.op == "placeholder"], names, strict=True))
    for node in module.graph.nodes:
        node.name = holders[node] if node in holders else free_name(node.name, {*names, *dims})
    ends: list[Any] = []
    for node in module.graph.nodes:
        if node.op == "output":
            ends = list(node.args[0])
        elif node.op == "get_attr":
            constants[node.name] = getattr(module, node.target)
            nodes.append(node)
        elif node.op == "call_function":
            _refuse_random(node)
            nodes.append(node)
    return Trace(nodes, names, ends, updated, instance, exact(constants, values, traced))


def _refuse_random(node: Any) -> None:
    name = str(node.target).split(".")[1] if "." in str(node.target) else ""
    if name in RANDOM:
        act = "uses dropout in training mode" if name in ("bernoulli", "native_dropout") else "draws random numbers"
        raise ImportRefused(f"it {act} ({node.target}), so its result does not follow from its inputs")


def unified(traces: Sequence[Trace], fitting: Fitting) -> Graph:
    """One graph for all of them; ImportRefused where a number follows from the dims in a way that has no expression."""
    first = traces[0]
    sizes = Sizes(fitting)
    inputs = []
    for i, name in enumerate(first.names):
        tensors = [[*t.instance.state.values(), *_tensors(t.instance)][i] for t in traces]
        is_weight = i < len(first.instance.state)
        parameter = list(first.instance.state)[i] if is_weight else ""
        law = first.instance.laws.get(parameter, "") if is_weight else ""
        inputs.append(Tensor(name, sizes.shape([t.shape for t in tensors]), DTYPES[tensors[0].dtype], law, parameter))
    nodes = []
    for rows in zip(*(t.nodes for t in traces), strict=True):
        nodes.append(node_of(rows, [t.constants for t in traces], sizes))
    without_ends = Graph(tuple(inputs), tuple(nodes), ())
    values = without_ends.values()
    outputs = []
    titles = ["y"] if len(first.ends) == 1 else [f"y{i}" for i in range(len(first.ends))]
    weights = {f"w_{n.replace('.', '_')}" for n in first.instance.state}
    arguments = {end.name: name for name, end in first.updates if name not in weights}  # that values are written into
    for title, end in zip(first.instance.outputs or titles, first.ends, strict=True):
        value, name = values[end.name], arguments.pop(end.name, "")
        spec = Tensor(f"new_{name}" if name else _free(title, first.names), value.shape, value.dtype, initial=name)
        outputs.append((spec, end.name))
    for end_name, name in arguments.items():
        value = values[end_name]
        outputs.append((Tensor(f"new_{name}", value.shape, value.dtype, initial=name), end_name))
    notes = [LAST_STAYS] if any(_overwrites(without_ends, node) for node in nodes) else []
    for name, end in first.updates:
        if name not in weights:
            continue
        value = values[end.name]
        if value.dtype not in FLOATS:
            notes.append(f"{name} is counted up by the host and is no output")
            continue
        outputs.append((Tensor(f"new_{name}", value.shape, value.dtype), end.name))
    if not outputs:
        raise ImportRefused("it returns nothing and writes into none of its inputs")
    graph = Graph(tuple(inputs), tuple(nodes), tuple(outputs), tuple(notes))
    for tensor in (*inputs, *(spec for spec, _ in outputs)):
        if tensor.dtype == COMPLEX:
            raise ImportRefused(
                f"its {tensor.name} holds complex numbers, and tasks have no such type: take and return their parts, "
                "as torch.view_as_real gives them"
            )
    return _used(with_handed(graph) if first.instance.hands_out else graph)


def _overwrites(graph: Graph, node: Operation) -> bool:
    """Tell whether several values are written to places which other values name."""
    is_put = node.op.startswith("aten.index_put.") and not any(node.args[3:4])
    return node.op.startswith("aten.scatter.") or (is_put and not masked_places(graph, node))


def _free(title: str, names: Sequence[str]) -> str:
    return title if title not in names else _free(f"{title}_out", names)


def _tensors(instance: Instance) -> list[torch.Tensor]:
    return [a for a in instance.arguments if isinstance(a, torch.Tensor)]


def _used(graph: Graph) -> Graph:
    """Without nodes and weights that no output needs."""
    nodes, needed = graph.needed()
    filled = {spec.initial for spec, _ in graph.outputs if spec.initial} - needed  # written, never read
    unused = [t.name for t in graph.inputs if t.name not in needed | filled and not t.parameter]
    if unused:
        raise ImportRefused(f"its result does not depend on its input {unused[0]}")
    inputs = tuple(t for t in graph.inputs if t.name in needed)
    outputs = [(replace(s, name=s.initial, initial="") if s.initial in filled else s, n) for s, n in graph.outputs]
    return Graph(inputs, nodes, tuple(outputs), graph.notes)


def node_of(rows: Sequence[Any], constants: Sequence[Mapping[str, torch.Tensor]], sizes: Sizes) -> Operation:
    """One operation of all traces as a node; `constants` are the tensors that each of them holds."""
    first = rows[0]
    values = [r.meta["val"] if "val" in r.meta else r.meta.get("tensor_meta") for r in rows]
    if first.op == "get_attr":
        tensors = [tensors_by_name[r.name] for tensors_by_name, r in zip(constants, rows, strict=True)]
        if tensors[0].numel() > MOST_CONSTANT or any(not torch.equal(tensors[0], t) for t in tensors):
            raise ImportRefused("it holds a tensor of constants that is no parameter or buffer of it")
        values = tensors
        return Operation(
            first.name,
            "constant",
            (tensors[0].tolist(),),
            {},
            sizes.shape([t.shape for t in tensors]),
            DTYPES[tensors[0].dtype],
        )
    op = "getitem" if "getitem" in str(first.target) else str(first.target)
    args = tuple(_merged([r.args[i] for r in rows], sizes) for i in range(len(first.args)))
    kwargs = {n: _merged([r.kwargs[n] for r in rows], sizes) for n in first.kwargs}
    if isinstance(values[0], (tuple, list)):
        return Operation(first.name, op, args, kwargs, (), "")
    if op.startswith("aten.copy."):  # of its first argument it has the shape alone
        op, args = "aten.expand.default", args[1:]
    return Operation(first.name, op, args, kwargs, sizes.shape([v.shape for v in values]), DTYPES[values[0].dtype])


def _merged(values: Sequence[Any], sizes: Sizes) -> Any:
    first = values[0]
    if isinstance(first, torch.fx.Node):
        return Ref(first.name)
    if isinstance(first, (list, tuple)):
        return [_merged([v[i] for v in values], sizes) for i in range(len(first))]
    if isinstance(first, torch.dtype):
        return DTYPES.get(first, str(first))
    if isinstance(first, (bool, str)) or first is None:
        return first
    return sizes.merged(values) if isinstance(first, (int, float)) else str(first)
