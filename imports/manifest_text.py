"""The `task.toml` of an imported task."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from imports.graph import Graph, Operation, Ref, Size
from imports.node_arguments import plain
from imports.refusal import ImportRefused
from imports.schedules.product_types import peak_of
from imports.summing_order import NARROW
from tasks.dtypes import size_bytes
from tasks.expressions import MAX_LENGTH
from tasks.origin import Origin

OTHER_TYPES = {"mi300x": ("e4m3fn", "e5m2"), "h200": ("e4m3fnuz", "e5m2fnuz")}  # that a target does not have


@dataclass(frozen=True)
class Shapes:
    """The dims of an imported task: tests, the original's own sizes, steps; and its scalars."""

    tests: Sequence[Mapping[str, float]]
    benchmarks: Sequence[Mapping[str, float]]  # with the values of scalars that differ from those in `scalars`
    multiples: Mapping[str, int]
    scalars: Mapping[str, float] = field(default_factory=dict)
    weights: Sequence[float] = ()  # of the benchmarks; none where all weigh the same


def manifest_text(
    name: str,
    title: str,
    graph: Graph,
    shapes: Shapes,
    origin: Origin,
    notes: Sequence[str],
    gate: tuple[float, float] | None,
    unplanted: Sequence[str] = (),
) -> str:
    """Write the whole file; the last note says what reference.py is; `gate` is the original's tolerance."""
    declared = [f"{t.name} is always {t.structure.replace('_', ' ')}" for t in graph.inputs if t.structure]
    steps = [_steps(graph)] if graph.nodes else []
    description = "; ".join([*steps, *declared, *notes])
    lines = [
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(title)}",
        f"description = {json.dumps(f'{title}. {description}')}",
        f"targets = {json.dumps(targets_of(graph))}",
    ]
    if unplanted:
        names = [t.name for t in graph.inputs if t.dtype[0] not in "iu" and t.dtype != "bool" and not t.structure]
        lines += [f"plant = {json.dumps([n for n in names if n not in unplanted])}"]
    lines += _tensors(graph)
    lines += ["", "[scalars]"] if shapes.scalars else []
    lines += [f'{n} = {{ dtype = "f32", value = {v!r} }}' for n, v in shapes.scalars.items()]
    for role, cases in (("test", shapes.tests), ("benchmark", shapes.benchmarks)):
        weights = [f"weight = {w:.4g}" for w in shapes.weights] if role == "benchmark" else []
        for case, weight in itertools.zip_longest(cases, weights):
            lines += ["", f"[[{role}]]", *(f"{n} = {v}" for n, v in case.items()), *([weight] if weight else [])]
    for dim, step in shapes.multiples.items():
        lines += ["", f"[dims.{dim}]", f"multiple = {step}"]
    lines += ["", "[work]", f'flops = "{flops(graph)}"', f'bytes = "{moved(graph)}"']
    if peak := peak_of(graph):
        lines.append(f'peak = "{peak}"')
    lines += ["", "[tolerance]", f"ratio = {NARROW}"]
    if gate is not None:
        lines += [f"rtol = {gate[0]}", f"atol = {gate[1]}"]
    lines += ["", "[origin]"]
    fields = {
        n: getattr(origin, n) for n in ("source", "form", "commit", "licence", "digest", "file", "frozen", "parameters")
    }
    lines += [f"{n} = {json.dumps(v)}" for n, v in fields.items() if v]
    return "\n".join(lines) + "\n"


def _tensors(graph: Graph) -> list[str]:
    """Write the tables of inputs and outputs."""
    lines = list[str]()
    for tensor in graph.inputs:
        lines += ["", "[[input]]", f'name = "{tensor.name}"', f'dtype = "{tensor.dtype}"']
        lines += [f"shape = {_list(tensor.shape)}"]
        lines += [f'structure = "{tensor.structure}"'] if tensor.structure else []
        if tensor.parameter:
            lines += [f"parameter = {json.dumps(tensor.parameter)}"]
            lines += [f"initialiser = {json.dumps(tensor.law)}"] if tensor.law else []
    for spec, _ in graph.outputs:
        lines += ["", "[[output]]", f'name = "{spec.name}"', f'dtype = "{spec.dtype}"', f"shape = {_list(spec.shape)}"]
        lines += [f'initial = "{spec.initial}"'] if spec.initial else []
    return lines


def targets_of(graph: Graph) -> list[str]:
    """List the GPUs that have all types of its tensors."""
    types = {t.dtype for t in (*graph.inputs, *(spec for spec, _ in graph.outputs))}
    targets = [name for name, absent_types in OTHER_TYPES.items() if not types & set(absent_types)]
    if not targets:
        raise ImportRefused(f"no GPU that is known here has all of its types: {', '.join(sorted(types))}")
    return targets


def _steps(graph: Graph) -> str:
    """Write the operations in their order, as words."""
    names: list[str] = []
    for node in graph.nodes:
        name = plain(node.op).strip("_")
        if (
            node.dtype
            and (not names or names[-1] != name)
            and name not in ("view", "clone", "getitem", "unsqueeze", "squeeze")
        ):
            names.append(name)
    listed_names = names if len(names) <= 24 else [*names[:24], "..."]
    return f"The operations in their order: {', '.join(listed_names) or 'none'}"


def flops(graph: Graph) -> str:
    """Operations: of products and convolutions exactly, one for each element of the rest where that is short."""
    heavy, light = list[str](), list[tuple[Size, ...]]()
    for node in graph.nodes:
        name = plain(node.op)
        if name in ("mm", "bmm"):
            heavy.append(_times(2, [*node.shape, graph.shape_of(node.args[0].name)[-1]]))
        elif name.endswith("_steps"):  # of a recurrent layer
            heavy.append(_times(2, [*graph.shape_of(node.args[0].name), graph.shape_of(node.args[1].name)[-1]]))
        elif name == "convolution":
            weight = graph.shape_of(node.args[1].name)
            over = graph.shape_of(node.args[0].name) if node.args[6] else node.shape
            heavy.append(_times(2, [*over, *weight[1:]]))
        elif node.dtype:
            light.append(tuple(_widest(graph, node)))
    varied = [shape for shape in dict.fromkeys(light) if not all(isinstance(s, int) for s in shape)]
    parts = [*heavy, *(_times(light.count(shape), shape) for shape in varied)]
    while parts and len(" + ".join(parts)) > MAX_LENGTH:
        parts.pop()
    return " + ".join(parts) or "1"


def moved(graph: Graph) -> str:
    """Bytes of all inputs and outputs."""
    specs = [*graph.inputs, *(spec for spec, _ in graph.outputs)]
    widths = dict[tuple[Size, ...], int]()
    for spec in specs:
        widths[tuple(spec.shape)] = widths.get(tuple(spec.shape), 0) + size_bytes(spec.dtype)
    parts = [_times(width, shape) for shape, width in widths.items()]
    while len(" + ".join(parts)) > MAX_LENGTH:
        parts.pop(0)
    return " + ".join(parts)


def _widest(graph: Graph, node: Operation) -> Sequence[Size]:
    """Return the shape of what an operation reads where it reduces, else its own."""
    first = node.args[0] if node.args else None
    shape = graph.shape_of(first.name) if isinstance(first, Ref) else ()
    return shape if len(shape) > len(node.shape) else node.shape


def _times(many: int, shape: Sequence[Size]) -> str:
    """So many for each element of a shape: its constant sizes are one factor."""
    count = many * prod(s for s in shape if isinstance(s, int))
    sizes = [_size_text(s) for s in shape if not isinstance(s, int)]
    return " * ".join([*([str(count)] if count != 1 or not sizes else []), *sizes])


def _size_text(size: Size) -> str:
    return str(size) if isinstance(size, int) or size.isidentifier() else f"({size})"


def _list(shape: Sequence[Size]) -> str:
    return "[" + ", ".join(f'"{s}"' for s in shape) + "]"
