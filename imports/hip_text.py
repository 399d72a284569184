"""A naive kernel for a graph: one thread computes one element, values that many need have a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imports.graph import COMPLEX, Graph, Size, users
from imports.hip_ops import HipWriter
from imports.hip_reductions import SCANS
from imports.hip_values import C_TYPES, SCALARS, c_expression, place_in
from imports.node_arguments import plain
from imports.refusal import ImportRefused

STORAGE = {
    **C_TYPES,
    "f16": "_Float16",
    "bf16": "__hip_bfloat16",
    "i16": "short",
    "i8": "signed char",
    "u8": "unsigned char",
}
EIGHT_BITS = {
    "e4m3fn": "__hip_fp8_e4m3",
    "e5m2": "__hip_fp8_e5m2",
    "e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "e5m2fnuz": "__hip_fp8_e5m2_fnuz",
}
STORAGE |= EIGHT_BITS
CONVERTED = {**EIGHT_BITS, "bf16": "__hip_bfloat16"}  # classes, whose conversions are functions of a header
THREADS = 256


@dataclass(frozen=True)
class _NaiveKernel:
    """A kernel: its axes of which each thread has one place, and the statements of a thread."""

    name: str
    over: dict[int, Size]
    rows: list[str]


def seed_text(graph: Graph, dims: Sequence[str], scalars: Sequence[str] = ()) -> str:
    """Write the whole file."""
    if any(node.dtype == COMPLEX for node in graph.nodes):
        raise ImportRefused("complex numbers have no naive kernel yet")
    return _text(graph, HipWriter(graph), dims, scalars)


def _text(graph: Graph, writer: HipWriter, dims: Sequence[str], scalars: Sequence[str]) -> str:
    outputs = {value: spec for spec, value in graph.outputs}
    begun = {spec.initial: spec.name for spec, _ in graph.outputs if spec.initial}
    initials = [t for t in graph.inputs if t.name in begun]  # that an output begins with, copied before it changes
    spaces = [(t.name, t.dtype, t.shape) for t in initials]
    spaces += [(n.name, n.dtype, n.shape) for n in graph.nodes if n.name in writer.stored and n.name not in outputs]
    kernels = _launched(graph, writer)
    buffers = [(t.name, STORAGE[t.dtype], "const ") for t in graph.inputs if t.name not in begun]
    buffers += [(spec.name, STORAGE[spec.dtype], "") for spec, _ in graph.outputs]
    buffers += [(f"w{name}_", STORAGE[dtype], "") for name, dtype, _ in spaces]
    names = [name for name, _, _ in buffers]
    head = ["/*+++"]
    head += ["[workspace]"] if spaces else []
    head += [f"w{name}_ = {_toml([dtype, *(shape or (1,))])}" for name, dtype, shape in spaces]
    copies = ", ".join(f'w{t.name}_ = "{begun[t.name]}"' for t in initials)
    head += ["[[launch]]", f"copy = {{{copies}}}"] if initials else []
    for kernel in kernels:
        head += [
            "[[launch]]",
            f'kernel = "compute_{kernel.name}"',
            f'grid = ["ceil_div({_product([*kernel.over.values()])}, {THREADS})"]',
            f'block = ["{THREADS}"]',
            f"args = {_toml([*names, *(f'{d}:i64' for d in dims), *scalars])}",
        ]
    kinds = {kind for _, kind, _ in buffers}
    headers = ["#include <hip/hip_runtime.h>"]
    headers += ["#include <hip/hip_fp8.h>"] if kinds & set(EIGHT_BITS.values()) else []
    headers += ["#include <hip/hip_bf16.h>"] if CONVERTED["bf16"] in kinds else []
    lines = [*head, "+++*/", *headers, "", "using Index = long long;", "", "struct Arguments {"]
    lines += [f"    {const}{kind}* {name};" for name, kind, const in buffers]
    lines += [f"    long long {name};" for name in dims]
    lines += [f"    float {name};" for name in scalars]
    lines += ["};", "", *_functions(graph, writer)]
    parameters = ", ".join(
        [f"{const}{kind}* {name}" for name, kind, const in buffers]
        + [f"long long {d}" for d in dims]
        + [f"float {name}" for name in scalars]
    )
    arguments = ", ".join([*names, *dims, *scalars])
    for kernel in kernels:
        lines += _kernel(kernel, parameters, arguments)
    return "\n".join(lines) + "\n"


def _launched(graph: Graph, writer: HipWriter) -> list[_NaiveKernel]:
    """List the kernels in their order: what others read first."""
    outputs = {value: spec for spec, value in graph.outputs}
    kernels = list[_NaiveKernel]()
    for node in graph.nodes:
        if node.name in writer.stored:
            name = outputs[node.name].name if node.name in outputs else node.name
            buffer = name if node.name in outputs else f"w{name}_"
            if plain(node.op) in SCANS:
                axis, rows = writer.scan_rows(node, buffer)
                over = {k: size for k, size in enumerate(node.shape) if k != axis}
                kernels.append(_NaiveKernel(name, over, rows))
            else:
                kernels.append(_element(name, buffer, node.shape, f"g_{node.name}", node.dtype))
    inputs = {t.name for t in graph.inputs}
    for spec, value in graph.outputs:
        if value not in writer.stored:
            call = f"{'at' if value in inputs else 'f'}_{value}"
            kernels.append(_element(spec.name, spec.name, spec.shape, call, spec.dtype))
    return kernels


def _element(name: str, buffer: str, shape: Sequence[Size], call: str, dtype: str) -> _NaiveKernel:
    """One value a thread."""
    arguments = ", ".join(["q_", *(f"i{k}" for k in range(len(shape)))])
    value = f"{call}({arguments})"
    value = f"{CONVERTED[dtype]}({value})" if dtype in CONVERTED else value  # a conversion that has to be asked for
    return _NaiveKernel(name, dict(enumerate(shape)), [f"{buffer}[at_] = {value};"])


def _functions(graph: Graph, writer: HipWriter) -> list[str]:
    """Write loads of inputs, then the values in their order; stored ones load what their kernel has left."""
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
        head = f"__device__ {C_TYPES[node.dtype]} {name}({_places(node.shape)})"
        if plain(node.op) not in SCANS:
            bodies.append(f"{head} {{\n    {writer.body(node)}\n}}")
        if node.name in writer.stored:
            buffer = stored_outputs.get(node.name, f"w{node.name}_")
            bodies.append(_load(f"f_{node.name}", buffer, node.shape, C_TYPES[node.dtype]))
    text = "\n".join(bodies)
    return [f"{line}" for name, line in SCALARS.items() if name in text] + lines + bodies + [""]


def _load(name: str, buffer: str, shape: Sequence[Size], kind: str) -> str:
    flat = place_in(shape, [f"i{axis}" for axis in range(len(shape))])
    return f"__device__ {kind} {name}({_places(shape)}) {{ return ({kind})q_.{buffer}[{flat}]; }}"


def _places(shape: Sequence[Size]) -> str:
    return ", ".join(["const Arguments& q_", *(f"Index i{k}" for k in range(len(shape)))])


def _kernel(kernel: _NaiveKernel, parameters: str, arguments: str) -> list[str]:
    total = " * ".join(["1LL", *(c_expression(s) for s in kernel.over.values())])
    lines = [
        f'extern "C" __global__ void compute_{kernel.name}({parameters}) {{',
        f"    const Arguments q_ = {{{arguments}}};",
        f"    const long long at_ = (long long)blockIdx.x * {THREADS} + threadIdx.x;",
        f"    if (at_ >= {total}) return;",
    ]
    lines.append("    long long n_ = at_;")
    for axis, size in [*kernel.over.items()][:0:-1]:
        lines.append(f"    const long long i{axis} = n_ % {c_expression(size)}; n_ /= {c_expression(size)};")
    lines += [f"    const long long i{axis} = n_;" for axis in [*kernel.over][:1]]
    return [*lines, *(f"    {line}" for line in kernel.rows), "}", ""]


def _product(shape: Sequence[Size]) -> str:
    return " * ".join(str(s) if str(s).isidentifier() or isinstance(s, int) else f"({s})" for s in shape) or "1"


def _toml(values: Sequence[object]) -> str:
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"
