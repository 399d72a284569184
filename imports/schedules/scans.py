"""Running sums and products: along neighbours by a block, along other axes by a work-item a line."""

from __future__ import annotations

from collections.abc import Sequence

from imports.graph import Operation, Size
from imports.hip_reductions import SCANS
from imports.hip_text import STORAGE
from imports.hip_values import C_TYPES, c_expression
from imports.node_arguments import plain
from imports.schedules.case_sizes import Digit, product_text
from imports.schedules.element_wise import product_of
from imports.schedules.index_digits import ITEM, NotDirect
from imports.schedules.kernels import (
    UNROLLED,
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

FUNCTORS = {"cumsum": "AddOf()", "cumprod": "ProductOf()"}
MOST_LANES, MOST_EACH = 1024, 16


def scan(job: ScheduleJob, name: str, node: Operation, results: Sequence[StoredValue]) -> Kernel:
    """Write the kernel of one scan and of results that follow from its elements."""
    axis = node.args[1] % len(node.shape)
    if all(str(s) == "1" for s in node.shape[axis + 1 :]):
        return _along_neighbours(job, name, node, results, axis)
    return _along_lines(job, name, node, results, axis)


def _type(node: Operation) -> str:
    return "long long" if node.dtype[0] in "iu" else "double" if node.dtype == "f64" else "float"


def _along_neighbours(
    job: ScheduleJob, name: str, node: Operation, results: Sequence[StoredValue], axis: int
) -> Kernel:
    """Write sums within a work-item, over the lanes of a wave, over the waves, then for the next part of the row."""
    emitter = job.emitter(frozenset({node.name}))
    outer, inner = node.shape[:axis], node.shape[axis]
    digits = [Digit("o_", product_of(outer))] if outer else []
    digits.append(Digit(emitter.indices.element_index("jv_"), inner))
    indices = emitter.indices.coordinates(digits, node.shape)
    statements = emitter.begin()
    variable = emitter.value(node.args[0].name, indices)
    taken = vector_lines(emitter, statements, [f"h_[k_][{ITEM}] = {variable};"])
    item_sizes = [load.item_bytes for load in statements.loads.values()]
    second = emitter.begin({(node.name, tuple(indices)): f"sum_[{ITEM}]"})
    elements, stores, arrays = list[str](), list[str](), list[str]()
    for number, result in enumerate(results):
        mine = emitter.indices.coordinates(digits, result.shape)
        value = emitter.value(result.value, mine)
        arrays.append(f"{STORAGE[result.dtype]} out{number}_[V];")
        elements.append(f"out{number}_[{ITEM}] = {result.converted(value)};")
        stores.append(stored(emitter, result, mine, f"out{number}_[{ITEM}]"))
    last = [*arrays, *vector_lines(emitter, second, elements, item_loop(stores))]
    before = [*emitter.indices.prelude[0], *statements.lines[0], *second.lines[0]]
    body = _by_parts(node, inner, job.extents.typical([inner]), before, taken, last)
    code = ["template <int V>", f"__device__ __forceinline__ void {name}_rows(const Arguments& q_) {{"]
    code += [*indented(body), "}", ""]
    code += [f'extern "C" __global__ __launch_bounds__(LANES) void {name}(PARAMETERS) {{']
    code += ["    const Arguments q_ = {ARGUMENTS};"]
    code += [*indented(chosen(f"{name}_rows", whole_vectors(emitter, inner))), "}"]
    lanes = min(MOST_LANES, max(64, 1 << (-(-job.extents.typical([inner]) // MOST_EACH) - 1).bit_length()))
    tunables = {
        "LANES": list(dict.fromkeys([lanes, min(MOST_LANES, lanes * 2), max(64, lanes // 2)])),
        "VEC": widths([*item_sizes, *(size_bytes(r.dtype) for r in results)]),
    }
    called, loaded = frozenset(emitter.called), frozenset(emitter.loaded)
    return Kernel(name, code, product_text(outer), ["LANES"], tunables, called=called, loaded=loaded)


def _by_parts(
    node: Operation, inner: Size, typical: int, before: Sequence[str], taken: Sequence[str], last: Sequence[str]
) -> list[str]:
    """Write the loop over the parts of a row: all loads of a part, then the sums of one vector of each lane."""
    kind, start, op = _type(node), SCANS[plain(node.op)][0], FUNCTORS[plain(node.op)]
    head = [UNROLLED, "for (int k_ = 0; k_ < KEPT; ++k_) {"]
    head += ["    const Index jv_ = from_ + (k_ * LANES + lane_) * V;"]
    return [
        f"constexpr int KEPT = kept_vectors({typical}, LANES * V, {MOST_EACH * 2} / V);",
        f"const Index inner_ = {c_expression(inner)}, o_ = blockIdx.x;",
        "const int lane_ = threadIdx.x;",
        *before,
        f"{kind} before_ = {start};",
        "for (Index from_ = 0; from_ < inner_; from_ += KEPT * LANES * V) {",
        f"    {kind} h_[KEPT][V];",
        *indented(head),
        *indented(item_loop([f"h_[k_][{ITEM}] = {start};"]), 2),
        "        if (jv_ < inner_) {",
        *indented(taken, 3),
        "        }",
        "    }",
        *indented(head),
        f"        {kind} sum_[V];",
        f"        before_ = running<LANES>(h_[k_], sum_, before_, ({kind}){start}, {op});",
        "        if (jv_ < inner_) {",
        *indented(last, 3),
        "        }",
        "    }",
        "}",
    ]


def _along_lines(job: ScheduleJob, name: str, node: Operation, results: Sequence[StoredValue], axis: int) -> Kernel:
    """Write a loop over each line; neighbouring work-items have neighbouring lines."""
    if any(r.value != node.name for r in results):
        raise NotDirect("a result that a line's loop does not have")
    emitter = job.emitter(frozenset({node.name}))
    kept = [s for k, s in enumerate(node.shape) if k != axis]
    lines = iter(emitter.indices.coordinates([Digit("o_", product_of(kept))], kept))
    emitter.indices.at_vector("row_")
    indices = ["row_" if k == axis else next(lines) for k in range(len(node.shape))]
    statements = emitter.begin()
    variable = emitter.value(node.args[0].name, indices)
    start, step = SCANS[plain(node.op)]
    stores = [stored(emitter, r, indices, r.converted("sum_")) for r in results]
    code = [
        f'extern "C" __global__ __launch_bounds__(BLOCK) void {name}(PARAMETERS) {{',
        "    const Arguments q_ = {ARGUMENTS};",
        "    const Index o_ = blockIdx.x * BLOCK + threadIdx.x;",
        f"    if (o_ >= {c_expression(product_text(kept))}) return;",
        *indented([*emitter.indices.prelude[0], *statements.lines[0]]),
        f"    {_type(node)} sum_ = {start};",
        "#pragma unroll 4",
        f"    for (Index row_ = 0; row_ < {c_expression(node.shape[axis])}; ++row_) {{",
        *indented([*emitter.indices.prelude[1], *statements.lines[1], *statements.lines[2]], 2),
        f"        sum_ {step} ({C_TYPES[node.dtype]}){variable};",
        *indented(stores, 2),
        "    }",
        "}",
    ]
    tunables = {"BLOCK": [64, 128, 256]}
    called, loaded = frozenset(emitter.called), frozenset(emitter.loaded)
    grid = f"ceil_div({product_text(kept)}, BLOCK)"
    return Kernel(name, code, grid, ["BLOCK"], tunables, called=called, loaded=loaded)
