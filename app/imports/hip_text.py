"""A naive kernel for a graph: one thread computes one element, values that many need have a workspace."""

from __future__ import annotations

from collections.abc import Sequence

from app.imports.graph import Graph, Size, users
from app.imports.hip_ops import HipWriter
from app.imports.hip_values import C_TYPES, SCALARS, c_expression

STORAGE = {**C_TYPES, "f16": "_Float16", "bf16": "__bf16", "i16": "short", "i8": "signed char", "u8": "unsigned char"}
THREADS = 256


def seed_text(graph: Graph, dims: Sequence[str], scalars: Sequence[str] = ()) -> str:
    """The whole file."""
    writer = HipWriter(graph)
    outputs = {value: spec for spec, value in graph.outputs}
    begun = {spec.initial: spec.name for spec, _ in graph.outputs if spec.initial}
    kept = [t for t in graph.inputs if t.name in begun]  # values that an output begins with, copied before it changes
    spaces = [(t.name, t.dtype, t.shape) for t in kept]
    spaces += [(n.name, n.dtype, n.shape) for n in graph.nodes if n.name in writer.stored and n.name not in outputs]
    launched = _launched(graph, writer)
    buffers = [(t.name, STORAGE[t.dtype], "const ") for t in graph.inputs if t.name not in begun]
    buffers += [(spec.name, STORAGE[spec.dtype], "") for spec, _ in graph.outputs]
    buffers += [(f"w{name}_", STORAGE[dtype], "") for name, dtype, _ in spaces]
    names = [name for name, _, _ in buffers]
    head = ["/*+++"]
    head += ["[workspace]"] if spaces else []
    head += [f"w{name}_ = {_toml([dtype, *(shape or (1,))])}" for name, dtype, shape in spaces]
    copies = ", ".join(f'w{t.name}_ = "{begun[t.name]}"' for t in kept)
    head += ["[[launch]]", f"copy = {{{copies}}}"] if kept else []
    for name, shape, _, _ in launched:
        head += [
            "[[launch]]",
            f'kernel = "compute_{name}"',
            f'grid = ["ceil_div({_product(shape)}, {THREADS})"]',
            f'block = ["{THREADS}"]',
            f"args = {_toml([*names, *(f'{d}:i64' for d in dims), *scalars])}",
        ]
    lines = [*head, "+++*/", "#include <hip/hip_runtime.h>", "", "struct Arguments {"]
    lines += [f"    {const}{kind}* {name};" for name, kind, const in buffers]
    lines += [f"    long long {name};" for name in dims]
    lines += [f"    float {name};" for name in scalars]
    lines += ["};", "", *_functions(graph, writer)]
    parameters = ", ".join(
        [f"{const}{kind}* {name}" for name, kind, const in buffers]
        + [f"long long {d}" for d in dims]
        + [f"float {name}" for name in scalars]
    )
    given = ", ".join([*names, *dims, *scalars])
    for name, shape, buffer, call in launched:
        lines += _kernel(name, buffer, shape, call, parameters, given)
    return "\n".join(lines) + "\n"


def _launched(graph: Graph, writer: HipWriter) -> list[tuple[str, Sequence[Size], str, str]]:
    """Name, shape, buffer and function of each launch: what others read first."""
    outputs = {value: spec for spec, value in graph.outputs}
    made: list[tuple[str, Sequence[Size], str, str]] = []
    for node in graph.nodes:
        if node.name in writer.stored:
            name = outputs[node.name].name if node.name in outputs else node.name
            made.append((name, node.shape, name if node.name in outputs else f"w{name}_", f"g_{node.name}"))
    inputs = {t.name for t in graph.inputs}
    for spec, value in graph.outputs:
        if value not in writer.stored:
            made.append((spec.name, spec.shape, spec.name, f"{'at' if value in inputs else 'f'}_{value}"))
    return made


def _functions(graph: Graph, writer: HipWriter) -> list[str]:
    """Loads of inputs, then the values in their order; stored ones load what their kernel has left."""
    lines = []
    begun = {spec.initial for spec, _ in graph.outputs}
    stored_outputs = {value: spec.name for spec, value in graph.outputs if value in writer.stored}
    for tensor in graph.inputs:
        buffer = f"w{tensor.name}_" if tensor.name in begun else tensor.name
        lines.append(_load(f"at_{tensor.name}", buffer, tensor.shape, C_TYPES[tensor.dtype]))
    bodies = []
    count = users(graph)
    for node in graph.nodes:
        if not node.dtype or not count.get(node.name):
            continue
        name = f"g_{node.name}" if node.name in writer.stored else f"f_{node.name}"
        bodies.append(f"__device__ {C_TYPES[node.dtype]} {name}({_places(node.shape)}) {{\n    {writer.body(node)}\n}}")
        if node.name in writer.stored:
            buffer = stored_outputs.get(node.name, f"w{node.name}_")
            bodies.append(_load(f"f_{node.name}", buffer, node.shape, C_TYPES[node.dtype]))
    text = "\n".join(bodies)
    return [f"{line}" for name, line in SCALARS.items() if name in text] + lines + bodies + [""]


def _load(name: str, buffer: str, shape: Sequence[Size], kind: str) -> str:
    flat = "0"
    for axis, size in enumerate(shape):
        flat = f"i{axis}" if axis == 0 else f"({flat}) * {c_expression(size)} + i{axis}"
    return f"__device__ {kind} {name}({_places(shape)}) {{ return ({kind})q_.{buffer}[{flat}]; }}"


def _places(shape: Sequence[Size]) -> str:
    return ", ".join(["const Arguments& q_", *(f"long long i{k}" for k in range(len(shape)))])


def _kernel(name: str, buffer: str, shape: Sequence[Size], call: str, parameters: str, given: str) -> list[str]:
    lines = [f'extern "C" __global__ void compute_{name}({parameters}) {{', f"    const Arguments q_ = {{{given}}};"]
    total = " * ".join(["1LL", *(c_expression(s) for s in shape)])
    lines += [
        f"    const long long at_ = (long long)blockIdx.x * {THREADS} + threadIdx.x;",
        f"    if (at_ >= {total}) return;",
    ]
    lines.append("    long long n_ = at_;")
    for axis in range(len(shape) - 1, 0, -1):
        lines.append(
            f"    const long long i{axis} = n_ % {c_expression(shape[axis])}; n_ /= {c_expression(shape[axis])};"
        )
    if shape:
        lines.append("    const long long i0 = n_;")
    return [*lines, f"    {buffer}[at_] = {call}({', '.join(['q_', *(f'i{k}' for k in range(len(shape)))])});", "}", ""]


def _product(shape: Sequence[Size]) -> str:
    return " * ".join(str(s) if str(s).isidentifier() or isinstance(s, int) else f"({s})" for s in shape) or "1"


def _toml(values: Sequence[object]) -> str:
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"
