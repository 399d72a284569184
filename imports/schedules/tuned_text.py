"""The file of kernels that are scheduled by iteration space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.product_kinds import KINDS
from agents.tile_loads import STAGING
from imports.graph import COMPLEX, Graph, Size
from imports.hip_ops import HipWriter
from imports.hip_text import EIGHT_BITS, STORAGE
from imports.hip_values import C_TYPES, SCALARS, place_in
from imports.node_arguments import plain
from imports.refusal import ImportRefused
from imports.schedules.canonical import canonical
from imports.schedules.case_sizes import CaseSizes, product_text
from imports.schedules.emitter import references
from imports.schedules.grouping import Division, schedule_of
from imports.schedules.kernels import Kernel, with_own_tunables
from imports.schedules.over_lanes import OVER_LANES

EXACTLY = "#pragma clang fp contract(off)"


def tuned_text(
    graph: Graph,
    dims: Sequence[str],
    scalars: Sequence[str],
    benchmarks: Sequence[Mapping[str, int]],
    tests: Sequence[Mapping[str, int]],
    has_matrix_cores: bool = False,
) -> str:
    """Write the whole file; ImportRefused where a value has no schedule."""
    if any(node.dtype == COMPLEX for node in graph.nodes):
        raise ImportRefused("complex numbers have no tuned kernel yet")
    extents = CaseSizes(benchmarks, tests)
    graph = canonical(graph, lambda shape, axes: schedule_of(shape, axes, extents) != "rows")
    division = Division(graph, extents, has_matrix_cores)
    division.divide()
    kernels = with_own_tunables(division.kernels(), {*dims, *scalars, *(t.name for t in graph.inputs)})
    functions = _functions(graph, kernels, division.buffers)
    tensors = [*graph.inputs, *(spec for spec, _ in graph.outputs)]
    shapes = [t.shape for t in tensors] + [shape for k in kernels for _, shape in k.workspaces.values()]
    texts = dict.fromkeys(product_text(shape) for shape in shapes)
    return _file(graph, dims, scalars, kernels, functions, [t for t in texts if not t.isdigit()])


def _file(
    graph: Graph,
    dims: Sequence[str],
    scalars: Sequence[str],
    kernels: Sequence[Kernel],
    functions: Sequence[str],
    counts: Sequence[str],
) -> str:
    begun = {spec.initial: spec.name for spec, _ in graph.outputs if spec.initial}
    initials = [t for t in graph.inputs if t.name in begun]
    spaces: dict[str, tuple[str, Sequence[object]]] = {f"w{t.name}_": (t.dtype, t.shape) for t in initials}
    for kernel in kernels:
        spaces.update(kernel.workspaces)
    buffers = [(t.name, STORAGE[t.dtype], "const ") for t in graph.inputs if t.name not in begun]
    buffers += [(spec.name, STORAGE[spec.dtype], "") for spec, _ in graph.outputs]
    buffers += [(name, STORAGE[dtype], "") for name, (dtype, _) in spaces.items()]
    names = [name for name, _, _ in buffers]
    head = ["/*+++"]
    head += ["[workspace]"] if spaces else []
    head += [f"{name} = {_toml([dtype, *(shape or (1,))])}" for name, (dtype, shape) in spaces.items()]
    copies = ", ".join(f'w{t.name}_ = "{begun[t.name]}"' for t in initials)
    head += ["[[launch]]", f"copy = {{{copies}}}"] if initials else []
    for kernel in kernels:
        head += ["[[launch]]", f'kernel = "{kernel.name}"', f'grid = ["{kernel.grid}"]']
        head += [f"block = {_toml(kernel.block)}", f"args = {_toml([*names, *dims, *scalars])}"]
    tunables = {n: v for kernel in kernels for n, v in kernel.tunables.items()}
    head += ["[tunables]", *(f"{n} = {list(values)}" for n, values in tunables.items())] if tunables else []
    rules = {n: rule for kernel in kernels for n, rule in kernel.constraints.items()}
    rules |= {f"places_{k}" if k else "places": f"{text} < 1 << 31" for k, text in enumerate(counts)}
    head += ["[constraints]", *(f'{n} = "{rule}"' for n, rule in rules.items())] if rules else []
    parameters = [f"{const}{kind}* __restrict__ {name}" for name, kind, const in buffers]
    parameters += [f"int {d}" for d in dims] + [f"float {name}" for name in scalars]
    code = [line for kernel in kernels for line in (*kernel.code, "")]
    code = [
        line.replace("PARAMETERS", ", ".join(parameters)).replace("ARGUMENTS", ", ".join([*names, *dims, *scalars]))
        for line in code
    ]
    kinds = {kind for _, kind, _ in buffers}
    text = "\n".join([*functions, *code])
    lines = [*head, "+++*/", "#include <hip/hip_runtime.h>"]
    lines += ["#include <hip/hip_fp8.h>"] if kinds & set(EIGHT_BITS.values()) else []
    lines += ["#include <hip/hip_bf16.h>"] if "__hip_bfloat16" in text else []
    if any(
        plain(n.op) in ("amax", "amin") and n.args[0].name not in {t.name for t in graph.inputs} for n in graph.nodes
    ):
        lines += ["", "// What an extreme was taken of comes out the same again, to the last bit.", EXACTLY]
    lines += ["", "using Index = int;", "", "struct Arguments {", *(f"    {p};" for p in parameters), "};", ""]
    return "\n".join([*lines, *_called(kernels, text), "", text]) + "\n"


def _called(kernels: Sequence[Kernel], text: str) -> list[str]:
    """List the device functions that a text calls."""
    products = dict.fromkeys(kind for kernel in kernels for kind in kernel.kinds)
    lines = [STAGING, *(KINDS[kind].functions for kind in products)] if products else []
    listed = {**SCALARS, **OVER_LANES}
    return [*(function for name, function in listed.items() if name in text), *lines]


def _functions(graph: Graph, kernels: Sequence[Kernel], buffers: Mapping[str, str]) -> list[str]:
    """Write the values that kernels call for elements at other places, and what these call, as functions of indices."""
    writer, lines = HipWriter(graph), list[str]()
    names, computed = ({n for k in kernels for n in getattr(k, part)} for part in ("called", "computed"))
    for node in reversed(graph.nodes):
        if node.name in computed or (node.name in names and node.name not in buffers):
            names.update(references(node))
    for tensor in graph.inputs:
        if tensor.name in names:
            lines.append(_load(f"at_{tensor.name}", buffers.get(tensor.name, tensor.name), tensor.shape, tensor.dtype))
    for node in graph.nodes:
        if node.name in computed:
            lines.append(f"{_head(f'g_{node.name}', node.shape, node.dtype)} {{ {writer.body(node)} }}")
        if node.name in names and node.name in buffers:
            lines.append(_load(f"f_{node.name}", buffers[node.name], node.shape, node.dtype))
        elif node.name in names and node.dtype:
            lines.append(f"{_head(f'f_{node.name}', node.shape, node.dtype)} {{ {writer.body(node)} }}")
    return lines


def _load(name: str, buffer: str, shape: Sequence[Size], dtype: str) -> str:
    flat = place_in(shape, [f"i{k}" for k in range(len(shape))])
    return f"{_head(name, shape, dtype)} {{ return ({C_TYPES[dtype]})q_.{buffer}[{flat}]; }}"


def _head(name: str, shape: Sequence[Size], dtype: str) -> str:
    indices = ", ".join(["const Arguments& q_", *(f"Index i{k}" for k in range(len(shape)))])
    return f"__device__ {C_TYPES[dtype]} {name}({indices})"


def _toml(values: Sequence[object]) -> str:
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"
