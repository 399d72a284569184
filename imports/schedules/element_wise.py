"""Results without sums: blocks of work-items over the inner axes, a block or several for each element of the outer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imports.graph import Size
from imports.hip_text import STORAGE
from imports.hip_values import c_expression
from imports.schedules.case_sizes import Digit, product_text
from imports.schedules.emitter import Emitter
from imports.schedules.index_digits import ITEM
from imports.schedules.kernels import (
    Kernel,
    ScheduleJob,
    StoredValue,
    chosen,
    indented,
    item_loop,
    stored,
    vector_lines,
    whole_vectors,
    widths,
)
from tasks.dtypes import size_bytes

LEAST_INNER = 1024  # elements that blocks take together where axes can be divided so


@dataclass(frozen=True)
class _Draft:
    """The statements of one way to divide the axes."""

    emitter: Emitter
    lines: list[str]
    outer: tuple[Size, ...]
    inner: tuple[Size, ...]


def element_wise(job: ScheduleJob, name: str, results: Sequence[StoredValue], computed: str = "") -> Kernel:
    """Write a kernel for results of one shape; NotDirect where an element cannot be reached from its place.

    Elements of the value `computed` come from a function of their indices.
    """
    shape = results[0].shape
    flat = _draft(job, results, 0, computed)
    draft = flat
    if flat.emitter.indices.splits:
        fitting = [k for k in range(len(shape)) if job.extents.typical(shape[k:]) >= LEAST_INNER]
        draft = _draft(job, results, fitting[-1], computed) if fitting and fitting[-1] else flat
    emitter, inner, outer = draft.emitter, draft.inner, draft.outer
    condition = whole_vectors(emitter, " * ".join(f"({s})" for s in inner) or "1")
    tiles = f"ceil_div({product_text(inner)}, BLOCK * VEC)"
    code = [
        "template <int V>",
        f"__device__ __forceinline__ void {name}_vectors(const Arguments& q_) {{",
        f"    const Index inner_ = {c_expression(product_text(inner))}, outer_ = {c_expression(product_text(outer))};",
        "    const Index tiles_ = (inner_ - 1) / (BLOCK * VEC) + 1;",
        "    const Index first_ = blockIdx.x / tiles_ * ITEMS, tile_ = blockIdx.x % tiles_;",
        "    for (int part_ = 0; part_ < VEC / V; ++part_) {",
        "        const Index jv_ = (tile_ * (BLOCK * VEC / V) + part_ * BLOCK + (int)threadIdx.x) * V;",
        "        if (jv_ >= inner_) return;",
        "#pragma unroll",
        "        for (int item_ = 0; item_ < ITEMS; ++item_) {",
        "            const Index o_ = first_ + item_;",
        "            if (o_ >= outer_) break;",
        *indented(draft.lines, 3),
        "        }",
        "    }",
        "}",
        "",
        f'extern "C" __global__ __launch_bounds__(BLOCK) void {name}(PARAMETERS) {{',
        "    const Arguments q_ = {ARGUMENTS};",
        *indented(chosen(f"{name}_vectors", condition)),
        "}",
    ]
    wide = [size_bytes(r.dtype) for r in results] + emitter.load_bytes
    return Kernel(
        name,
        code,
        f"{tiles} * ceil_div({product_text(outer)}, ITEMS)",
        ["BLOCK"],
        {"BLOCK": [256, 128, 512], "VEC": [1] if computed else widths(wide), "ITEMS": [1, 2, 4] if outer else [1]},
        called=frozenset(emitter.called),
        computed=frozenset({computed} - {""}),
        loaded=frozenset(emitter.loaded),
    )


def _draft(job: ScheduleJob, results: Sequence[StoredValue], first_inner: int, computed: str) -> _Draft:
    """Write the statements with the axes from `first_inner` on for the work-items of blocks."""
    shape = results[0].shape
    outer, inner = shape[:first_inner], shape[first_inner:]
    emitter = job.emitter(computed=computed)
    digits = [Digit("o_", product_of(outer))] if outer else []
    digits += [Digit(emitter.indices.element_index("jv_"), product_of(inner))]
    statements = emitter.begin()
    indices = emitter.indices.coordinates(digits, shape)
    elements, stores, arrays = list[str](), list[str](), list[str]()
    for number, result in enumerate(results):
        variable = emitter.value(result.value, indices)
        arrays.append(f"{STORAGE[result.dtype]} out{number}_[V];")
        elements.append(f"out{number}_[{ITEM}] = {result.converted(variable)};")
        stores.append(stored(emitter, result, indices, f"out{number}_[{ITEM}]"))
    emitter.load_bytes = [load.item_bytes for load in statements.loads.values()]
    lines = [*emitter.indices.prelude[0], *statements.lines[0], *arrays]
    lines += vector_lines(emitter, statements, elements, item_loop(stores))
    return _Draft(emitter, lines, outer, inner)


def product_of(sizes: Sequence[Size]) -> Size:
    """Write the product of sizes as one size."""
    return sizes[0] if len(sizes) == 1 else product_text(sizes)
