"""Sums of products over two axes as a product of matrices: tiles in LDS, sums by the matrix cores or by fused steps.

What an operand is comes from what its factor depends on: the row, the column, the step of the loop. How the kernel
writes its indices does not matter, nor which way its buffers lie.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agents.cpp.polynomial import ONE, ZERO, atom, polynomial
from agents.matrix_tiles import TUNABLES, TiledProduct
from agents.playbook.emitted import are_free, indented, items_of, restored
from agents.playbook.plan_moves import bounds_of
from agents.playbook.product_loops import OperandFactor, ProductLoop, declarations, product_loops
from agents.product_kinds import KINDS, ProductKind
from agents.source import KernelFile, substitute, with_plan, words
from agents.tile_loads import STAGING, Operand
from agents.tile_sizes import constraints, tunables

WIDE = 4  # neighbours along rows that are loaded together at most
USUAL = [
    (2048, 2048, 1)
]  # rows, columns and matrices that the first choice of tiles is for: nobody says which they are
UNITS = 304
POINTEES = {
    **{"_Float16": "f16", "__half": "f16", "half": "f16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16"},
    **{"signed char": "i8", "int8_t": "i8", "float": "f32"},
}
FUSED = {"float": "fused_f32", "double": "fused_f64", "int": "fused_i32"}
KindOf = Callable[[ProductLoop], ProductKind | None]
_READS = ("__half2float", "__bfloat162float", "float", "__ldg")


def fused_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels that are such products, by name."""
    return _variants(file, reserved, fused_kind)


def matrix_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels whose products the matrix cores have, by name."""
    return _variants(file, reserved, matrix_kind) if arch.startswith("gfx9") else ()


def fused_tiles(file: KernelFile, variant: str) -> str:
    """Write the product with sums of each lane; the kernel keeps its name and parameters."""
    return _with_tiles(file, variant, fused_kind)


def matrix_tiles(file: KernelFile, variant: str) -> str:
    """Write the product with matrix instructions; the kernel keeps its name and parameters."""
    return _with_tiles(file, variant, matrix_kind)


def _variants(file: KernelFile, reserved: frozenset[str], kind_of: KindOf) -> tuple[str, ...]:
    if not are_free(file, reserved, *TUNABLES) or any(words(file.source, name) for name in TUNABLES):
        return ()
    return tuple(p.jam.work.kernel.name for p in product_loops(file) if kind_of(p))


def _with_tiles(file: KernelFile, variant: str, kind_of: KindOf) -> str:
    product = next(p for p in product_loops(file) if p.jam.work.kernel.name == variant)
    kind = kind_of(product)
    assert kind
    work = product.jam.work
    file = work.file
    tiled = _tiled(product, kind)
    kernel, lanes = work.kernel, tiled.lanes
    functions = "\n".join(["", STAGING + kind.functions, *tiled.functions()])
    place = _before(file, kernel.head[0])
    body = [*tiled.before, *tiled.calls()]
    edits = [(place, place, functions), (*kernel.body, "\n" + "\n".join(indented(body, 4)) + "\n")]
    if bounds := bounds_of(file, kernel):
        edits.append((*bounds, lanes))
    else:
        end = kernel.head[0] + len("__global__")
        edits.append((end, end, f" __launch_bounds__({lanes})"))
    counts = {i.axis: items_of(work, i.axis) for i in (product.left.index, product.right.index)}
    rows, columns = counts[product.left.index.axis], counts[product.right.index.axis]
    tiles = f"ceil_div({rows}, WAVESI * TILESI * {kind.tile}) * ceil_div({columns}, WAVESJ * TILESJ * {kind.tile})"
    rest = [str(extent) for extent in work.launch["grid"][2:]]
    launch = {**work.launch, "grid": [tiles, "1", *rest] if rest else [tiles], "block": [lanes]}
    launches = [launch if x is work.launch else x for x in file.plan["launch"]]
    sizes = {**file.tunables, **tunables(kind, USUAL, UNITS)}
    rules = {**file.plan.get("constraints", {}), **constraints(kind)}
    plan = {**file.plan, "launch": launches, "tunables": sizes, "constraints": rules}
    return with_plan(file, plan, substitute(file.source, edits))


def _tiled(product: ProductLoop, kind: ProductKind) -> TiledProduct:
    work, loop = product.jam.work, product.counted
    dependent = {n for i in product.jam.indices for n in work.depends(i.name)} | {product.sum_name}
    before = tuple(restored(work, k, d) for k, d in work.lead if d.name not in dependent)
    depth = f"({loop.end}) - ({loop.start})" if loop.start != "0" else loop.end
    left, right = (_operand(product, factor, kind) for factor in (product.left, product.right))
    conditions = dict.fromkeys(
        f"({o.rows}) % {WIDE} == 0" if o.is_turned else f"({depth}) % {kind.each} == 0" for o in (left, right)
    )
    return TiledProduct(
        work.kernel.name,
        kind,
        left,
        right,
        f"(int)({depth})",
        ", ".join(_restricted(p.text) for p in work.kernel.parameters),
        ", ".join(p.name for p in work.kernel.parameters),
        " && ".join(conditions),
        _results(product, dependent),
        before,
    )


def _restricted(text: str) -> str:
    return text if "*" not in text or "restrict" in text else re.sub(r"\*\s*(?=\w+\s*$)", "* __restrict__ ", text)


def _operand(product: ProductLoop, factor: OperandFactor, kind: ProductKind) -> Operand:
    """Write how elements of a factor are loaded, neighbours in the direction in which they lie in memory."""
    jam, loop, index = product.jam, product.counted, factor.index
    work = jam.work
    integers = {**work.integers, loop.name: atom("@"), index.name: atom("#")}
    pointers = {d.name: d.value for _, d in declarations(product) if d.is_pointer and d.value}
    subscripts = [
        sum((polynomial(e, work.file.code, integers) for e in (n.parts[1], pointers.get(n.parts[0].value)) if e), ZERO)
        for n in factor.nodes
        if n.kind == "index"
    ]
    is_turned = not any(s.along("@") == ONE for s in subscripts) and any(s.along("#") == ONE for s in subscripts)
    names = {n for node in factor.nodes for n in node.names()}
    needed = list[str]()
    for kind_text, declared in reversed(declarations(product)):
        if declared.name in names:
            names |= declared.value.names() if declared.value else set()
            needed.insert(0, restored(work, kind_text, declared))
    row, step = ("i_ + v_", "k_") if is_turned else ("i_", "k_ + v_")
    start = f"({loop.start}) + " if loop.start != "0" else ""
    pure = kind.name in POINTEES.values() and kind.bytes < 4
    value = f"__builtin_bit_cast({kind.element}, {_bare_read(work.file.source, factor)})" if pure else factor.value
    lines = [
        "#pragma unroll",
        "for (int v_ = 0; v_ < V; ++v_) {",
        f"    const {index.type} {index.name} = {row};",
        f"    const {loop.type} {loop.name} = {start}{step};",
        *(f"    {line}" for line in needed),
        f"    x_[v_] = {value};",
        "}",
    ]
    return Operand(lines, f"(int)({index.bound})", is_turned)


def _results(product: ProductLoop, dependent: set[str]) -> list[str]:
    """Write what the kernel does with a sum."""
    jam = product.jam
    work = jam.work
    declared = [*work.lead, *((s.type, d) for s in jam.before for d in s.declared)]
    lines = [f"const {f.index.type} {f.index.name} = {v};" for f, v in ((product.left, "i_"), (product.right, "j_"))]
    mine = {i.name for i in jam.indices}
    for kind, d in declared:
        is_new = d.name in dependent or all(d is not other for _, other in work.lead)
        if is_new and d.name not in mine:
            lines.append(restored(work, kind, d))
    lines += [work.text(s) for s in jam.before if s.form == "expression"]
    lines.append(f"{product.sum_name} += sum_;")
    after = jam.after
    return [*lines, *(work.file.source[after[0].start : after[-1].end].splitlines() if after else [])]


def _before(file: KernelFile, head: int) -> int:
    """Find a place before a kernel, behind whatever stands before it."""
    text = file.code[:head]
    directives = [m.end() for m in re.finditer(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n", text, re.M)]
    return max(file.plan_span[1], text.rfind(";") + 1, text.rfind("}") + 1, *directives[-1:])


def fused_kind(product: ProductLoop) -> ProductKind | None:
    """Find the fused steps for the type of the sums."""
    return KINDS.get(FUSED[product.jam.item_variables[product.sum_name]])


def matrix_kind(product: ProductLoop) -> ProductKind | None:
    """Find the matrix cores' way for elements as they lie in memory.

    There is none for single precision: fused steps, two at once, have the same rate and lower no clock.
    """
    total = product.jam.item_variables[product.sum_name]
    kinds = {_memory_kind(product, factor) for factor in (product.left, product.right)}
    if total == "int":
        return KINDS["i8"] if kinds == {"i8"} else None
    is_narrow = total == "float" and kinds in ({"f16"}, {"bf16"})
    return KINDS[next(iter(kinds))] if is_narrow else None


def _memory_kind(product: ProductLoop, factor: OperandFactor) -> str:
    work = product.jam.work
    if not _bare_read(work.file.source, factor):
        return ""
    pointees = {p.name: p.pointee for p in work.kernel.parameters}
    load = next(n for n in factor.nodes if n.kind == "index")
    return POINTEES.get(pointees.get(work.roots().get(load.parts[0].value, ""), ""), "")


def _bare_read(source: str, factor: OperandFactor) -> str:
    """Write the one load that a factor is; empty where it is more than that."""
    loads = [n for n in factor.nodes if n.kind == "index"]
    inside = {id(part) for load in loads for part in load.walk()}
    others = [n for n in factor.nodes if id(n) not in inside]
    if len(loads) != 1 or any(n.kind in ("binary", "unary", "postfix", "ternary", "number", "assign") for n in others):
        return ""
    if any(n.kind == "call" and n.value not in _READS for n in others):
        return ""
    return source[loads[0].start : loads[0].end]
