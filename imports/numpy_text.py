"""The `reference.py` of an imported task: inputs by their law, the graph in NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from imports.graph import Graph, Operation, Ref, Size, Tensor
from imports.node_arguments import plain, tuple_of
from imports.numpy_helpers import HELPERS
from imports.numpy_ops import NumpyWriter
from tasks.dtypes import numpy_dtype

WHOLE = {"i64": "np.int64", "i32": "np.int32", "i16": "np.int16", "i8": "np.int8", "u8": "np.uint8", "bool": "bool"}
LAWS: Mapping[str, str] = {
    "wide": '''
def draw(rng, shape, law):
    """Both signs, rows of different magnitude, and an outlier in each."""
    x = rng.standard_normal(shape)
    if len(shape):
        x = x * np.exp2(rng.uniform(-2, 1, (*shape[:-1], 1)))
        flat = x.reshape(-1, shape[-1])
        flat[np.arange(len(flat)), rng.integers(0, shape[-1], len(flat))] *= 3
    return x.astype(np.float32)
''',
    "steep": '''
def draw(rng, shape, law):
    """As wide ones, and every second row so steep that its exponentials overflow."""
    x = rng.standard_normal(shape)
    if len(shape):
        x[::2] *= 100
        x[1::4] -= 200
    return x.astype(np.float32)
''',
    "positive": '''
def draw(rng, shape, law):
    """Between 0 and 1 as where the task comes from, in rows of different magnitude."""
    x = rng.random(shape) if law == "uniform" else rng.standard_normal(shape)
    if len(shape):
        x = x * rng.uniform(0.25, 1, (*shape[:-1], 1))
    return x.astype(np.float32)
''',
    "plain": '''
def draw(rng, shape, law):
    """As where the task comes from."""
    x = rng.random(shape) if law == "uniform" else rng.standard_normal(shape)
    return x.astype(np.float32)
''',
}
SAID: Mapping[str, str] = {
    "wide": "test inputs have both signs, rows of different magnitude and outliers; the original's are plain",
    "steep": "test inputs have both signs, and rows so steep that exponentials overflow; the original's are plain",
    "positive": "test inputs keep to the original's range and have rows of different magnitude",
    "plain": "inputs are drawn as the original draws them",
}


def reference_text(
    graph: Graph, drawn: Graph | None, dims: Sequence[str], law: str, title: str, scalars: Sequence[str] = ()
) -> str:
    """Write the whole file. `drawn` is the graph of the inputs, whose random numbers become draws."""
    writer = NumpyWriter(graph)
    body = _body(graph, writer)
    inputs, more = _inputs(graph, drawn)
    helpers = [HELPERS[name].strip("\n") for name in HELPERS if name in writer.helpers | more]
    used = "\n".join([body, inputs])
    needed = [name for name in dims if re.search(rf"\b{name}\b", used)]
    unpacked = [f'    {name} = case.dims["{name}"]' for name in needed]
    unpacked += [f'    {name} = case.scalars["{name}"]' for name in scalars]
    parts = [
        f'"""{title}: float64 as the reference, float32 as the scale of the error. Made by `tasks new`."""',
        "\n".join([*(["import math", ""] if "error_function" in writer.helpers | more else []), "import numpy as np"]),
        LAWS[law].strip("\n"),
        *helpers,
        "\n".join(["def make_inputs(case, rng):", *_used_lines(unpacked, inputs), inputs]),
        "\n".join(["def compute(inputs, case, kind):", *_used_lines(unpacked, body), body]),
        _ends(graph),
    ]
    return "\n\n\n".join(parts) + "\n"


def _used_lines(unpacked: Sequence[str], text: str) -> list[str]:
    return [line for line in unpacked if re.search(rf"\b{line.split()[0]}\b", text)]


def _body(graph: Graph, writer: NumpyWriter) -> str:
    lines = []
    for tensor in graph.inputs:
        cast = "" if tensor.dtype in WHOLE else ".astype(kind)"
        lines.append(f'    {tensor.name} = inputs["{tensor.name}"]{cast}')
    for node in graph.nodes:
        lines.append(f"    {node.name} = {writer.expression(node)}")
    outputs = ", ".join(f'"{spec.name}": np.asarray({value})' for spec, value in graph.outputs)
    return "\n".join([*lines, f"    return {{{outputs}}}"])


def _ends(graph: Graph) -> str:
    names = ", ".join(f'"{spec.name}": {_stored(spec.dtype)}' for spec, _ in graph.outputs)
    narrow = any("ml_dtypes" in _stored(spec.dtype) for spec, _ in graph.outputs)
    rows = [
        *(["import ml_dtypes", "", ""] if narrow else []),
        f"TYPES = {{{names}}}",
        "",
        "",
        "def reference(inputs, case):",
        '    with np.errstate(all="ignore"):',
        "        found = compute(inputs, case, np.float64)",
        "    return {name: np.ascontiguousarray(x, np.float64).reshape(np.shape(x)) for name, x in found.items()}",
        "",
        "",
        "def baseline(inputs, case):",
        '    with np.errstate(all="ignore"):',
        "        found = compute(inputs, case, np.float32)",
        "    return {n: np.ascontiguousarray(x).astype(TYPES[n]).reshape(np.shape(x)) for n, x in found.items()}",
    ]
    return "\n".join(rows)


def _stored(dtype: str) -> str:
    """Return the NumPy type of an output, as text."""
    stored = numpy_dtype(dtype)
    return f'"{stored.name}"' if hasattr(np, stored.name) else f"ml_dtypes.{stored.name}"


def _inputs(graph: Graph, drawn: Graph | None) -> tuple[str, set[str]]:
    """Statements that return the inputs, and the helpers that they need."""
    lines, helpers, entries = list[str](), set[str](), list[str]()
    values: dict[str, str] = {}
    if drawn is not None:
        writer = _DrawWriter(drawn)
        lines += [f"    {_drawn_name(node.name)} = {writer.expression(node)}" for node in drawn.nodes]
        helpers = writer.helpers
        values = {spec.name: _drawn_name(value) for spec, value in drawn.outputs}
    for tensor in graph.inputs:
        text = values.get(tensor.name) or _law(tensor)
        cast = WHOLE.get(tensor.dtype, "np.float32")
        shaped = f"np.asarray({text}, {cast}).reshape({tuple_of(tensor.shape)})"
        shaped = f"np.ascontiguousarray({shaped})" if tensor.shape else shaped  # it would give a single number an axis
        entries.append(f'        "{tensor.name}": {shaped},')
    first = ["    kind = np.float32"] if any("kind" in line for line in lines) else []
    return "\n".join([*first, *lines, "    return {", *entries, "    }"]), helpers


def _drawn_name(name: str) -> str:
    return f"{name}_drawn"


def _law(tensor: Tensor) -> str:
    """Write a weight's draw: of the magnitude that its law gives, never constant, so that a kernel has to read it."""
    shape = tuple_of(tensor.shape)
    if not tensor.parameter:
        if tensor.dtype in WHOLE:
            return f"rng.integers(0, {2 if tensor.dtype == 'bool' else 100}, {shape})"
        return f'draw(rng, {shape}, "normal")'
    if tensor.dtype in WHOLE:
        is_places = tensor.law.startswith("arange")
        return f"rng.permutation({_product(tensor.shape) or 1})" if is_places else f"np.zeros({shape})"
    if tensor.law.startswith("tril") and len(tensor.shape) > 1:  # a mask: some of the places before the own one, and it
        return f"np.maximum(np.tril(rng.integers(0, 2, {shape})), np.eye({tensor.shape[-1]}))"
    last = tensor.parameter.rsplit(".", 1)[-1]
    if "var" in last or tensor.law.startswith(("ones", "fill(1")):
        return f"rng.uniform(0.5, 1.5, {shape})"
    if len(tensor.shape) > 1 and tensor.law.startswith("uniform"):
        return f"rng.uniform(-1, 1, {shape}) / np.sqrt({_product(tensor.shape[1:])})"
    return (
        f"rng.uniform(-0.5, 0.5, {shape})"
        if not tensor.law.startswith(("randn", "normal"))
        else f"rng.standard_normal({shape})"
    )


def _product(shape: Sequence[Size]) -> str:
    return " * ".join(str(s) if str(s).isidentifier() or isinstance(s, int) else f"({s})" for s in shape)


class _DrawWriter(NumpyWriter):
    """The graph of the inputs: what PyTorch draws becomes a draw from `rng`."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(_renamed(graph))
        self._original = {n.name: n for n in graph.nodes}

    def expression(self, node: Operation) -> str:
        """Write the node's value."""
        name, shape = plain(node.op), tuple_of(node.shape)
        if name in ("rand", "rand_like", "uniform"):
            if name == "uniform" and len(node.args) > 1:
                low, high = (node.args[i] if len(node.args) > i else i - 1 for i in (1, 2))
                return f'{low} + ({high} - {low}) * draw(rng, {shape}, "uniform")'
            return f'draw(rng, {shape}, "uniform")'
        if name in ("randn", "randn_like", "normal", "normal_functional"):
            return f'draw(rng, {shape}, "normal")'
        if name in ("randint", "randint_like"):
            ends = [self.text(v) for v in node.args if not isinstance(v, list)]
            low, high = (ends[0], ends[1]) if len(ends) > 1 else ("0", ends[0])
            return f"rng.integers({low}, {high}, {shape})"
        if name == "randperm":
            return f"rng.permutation({self.text(node.args[0])})"
        if name in ("empty", "new_empty"):
            return f"np.zeros({shape})"
        return super().expression(_renamed_node(node))


def _renamed(graph: Graph) -> Graph:
    nodes = tuple(_renamed_node(n, with_own_name=True) for n in graph.nodes)
    return Graph(graph.inputs, nodes, tuple((spec, _drawn_name(value)) for spec, value in graph.outputs))


def _renamed_node(node: Operation, with_own_name: bool = False) -> Operation:

    def change(value: object) -> object:
        if isinstance(value, Ref):
            return Ref(_drawn_name(value.name))
        if isinstance(value, (list, tuple)):
            return [change(v) for v in value]
        return value

    args, kwargs = tuple(change(v) for v in node.args), {k: change(v) for k, v in node.kwargs.items()}
    return Operation(
        _drawn_name(node.name) if with_own_name else node.name, node.op, args, kwargs, node.shape, node.dtype
    )
