"""Counters of a block of its own in LDS: atomics of one block meet there, and few of them reach the buffer.

The size of the buffer is known where an earlier launch of the file clears it, element by element up to a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.cpp.expression import Expression
from agents.cpp.polynomial import atom
from agents.cpp.statement import BodyStatement
from agents.playbook.emitted import (
    are_free,
    fresh_name,
    grid_of,
    indented,
    restored,
    text_of,
    unindented,
    with_restrict,
)
from agents.playbook.layout_moves import ELEMENT_BYTES
from agents.playbook.work_items import Coordinate, WorkItems, assigned, forms
from agents.source import KernelFile, Parameter, substitute, with_plan, words

CHUNKS = [16, 8, 32]
WIDE = [1, 2, 4]
_WHOLE = frozenset(("int", "unsigned", "unsigned int", "int32_t", "uint32_t", "unsigned long long"))


@dataclass(frozen=True)
class Counting:
    """A kernel that only adds to a buffer, by atomics, and the size that an earlier launch clears."""

    work: WorkItems
    index: Coordinate
    buffer: Parameter
    adds: tuple[tuple[Expression, Expression], ...]  # the address as it is given, and the place in the buffer
    size: str  # an argument of the plan


def private_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels that count into a buffer, by name."""
    names = tuple(c.work.kernel.name for c in _candidates(file))
    return names if are_free(file, reserved, "CHUNKS", "WIDE") else ()


def private_counters(file: KernelFile, variant: str) -> str:
    """Clear the block's counters, count several items a work-item, add what was counted to the buffer."""
    counting = next(c for c in _candidates(file) if c.work.kernel.name == variant)
    work, index, name = counting.work, counting.index, counting.buffer.name
    chunks, wide = fresh_name(file, "CHUNKS"), fresh_name(file, "WIDE")
    kind, block = counting.buffer.pointee, f"({work.extent('block', 'x').replace('//', '/')})"
    parameter_of = {a.split(":")[0]: p.name for a, p in zip(work.launch["args"], work.kernel.parameters, strict=True)}
    size, part = parameter_of.get(counting.size, counting.size), f"{name}_part"
    dependent, changed, start = work.depends(index.name), assigned(work.work), work.work[0].start
    edits = [(a.start - start, a.end - start, f"&{part}[{work.text(subscript)}]") for a, subscript in counting.adds]
    body = unindented(substitute(text_of(work), edits))
    item_declarations = [restored(work, k, d) for k, d in work.lead if d.name in (dependent | changed) - {index.name}]
    over = f"for (int part_at = threadIdx.x; part_at < {size}; part_at += {block})"
    item, share = f"{index.name}_item", f"({chunks} * {wide} * {block})"
    full_item = (
        f"const {index.type} {index.name} = ((blockIdx.x * {chunks} + part_chunk) * {block} + threadIdx.x) * {wide}"
    )
    single = f"const {index.type} {index.name} = (blockIdx.x * {chunks} * {wide} + part_chunk) * {block} + threadIdx.x;"
    lines = [
        f"extern __shared__ {kind} {part}[];",
        f"{over} {part}[part_at] = 0;",
        "__syncthreads();",
        *(restored(work, k, d) for k, d in work.lead if d.name not in dependent | changed),
        f"if ((long)(blockIdx.x + 1) * {share} <= (long)({index.bound})) {{",
        "#pragma unroll",
        f"    for (int part_chunk = 0; part_chunk < {chunks}; ++part_chunk) {{",
        "#pragma unroll",
        f"        for (int {item} = 0; {item} < {wide}; ++{item}) {{",
        *indented([f"{full_item} + {item};", *item_declarations, *_under(work.conditions, body)], 12),
        "        }",
        "    }",
        "} else {",
        "#pragma unroll 1",
        f"    for (int part_chunk = 0; part_chunk < {chunks} * {wide}; ++part_chunk) {{",
        *indented([single, *item_declarations, *_under((f"{index.name} < {index.bound}", *work.conditions), body)], 8),
        "    }",
        "}",
        "__syncthreads();",
        f"{over} {{",
        f"    if ({part}[part_at] != 0) atomicAdd(&{name}[part_at], {part}[part_at]);",
        "}",
    ]
    edit = [(*work.kernel.body, "\n" + "\n".join(indented(lines, 4)) + "\n")]
    if counting.size not in parameter_of:
        last = work.kernel.parameters[-1]
        edit.append((last.name_at + len(last.name),) * 2 + (f", int {size}",))
    return with_restrict(with_plan(file, _plan(counting, chunks, wide), substitute(file.source, edit)))


def _plan(counting: Counting, chunks: str, wide: str) -> dict[str, Any]:
    work, plan = counting.work, counting.work.file.plan
    args = list(work.launch["args"])
    is_given = any(a.split(":")[0] == counting.size for a in args)
    changes = {
        "grid": grid_of(work, "x", f"{work.extent('block', 'x')} * {chunks} * {wide}"),
        "args": args if is_given else [*args, counting.size],
        "lds": f"{ELEMENT_BYTES.get(counting.buffer.pointee, 8)} * {counting.size}",
    }
    launches = [{**x, **changes} if x is work.launch else x for x in plan["launch"]]
    return {**plan, "launch": launches, "tunables": {**work.file.tunables, chunks: CHUNKS, wide: WIDE}}


def _under(tests: tuple[str, ...], body: list[str]) -> list[str]:
    return [f"if ({' && '.join(tests)}) {{", *indented(body, 4), "}"] if tests else body


def _candidates(file: KernelFile) -> Iterator[Counting]:
    works = list(forms(file))
    for work in works:
        index = work.indices[0]
        leaves = {s.form for part in work.work for s in part.walk()} & {"for", "return", "continue", "break"}
        flat = all(work.extent(key, axis) == "1" for key in ("block", "grid") for axis in "yz")
        local = {declared.name for _, declared in work.lead} | {name for s in work.work for name in s.makes()}
        if len(work.indices) != 1 or index.axis != "x" or not index.bound or leaves or not flat or not work.is_apart:
            continue
        if not assigned(work.work) <= local or len(work.launch.get("args", [])) != len(work.kernel.parameters):
            continue
        names = ("part_at", "part_chunk", f"{index.name}_item")
        if any(words(file.code, name) for name in names):
            continue
        counting = _counting(work, index, works)
        if counting and not words(file.code, f"{counting.buffer.name}_part"):
            yield counting


def _counting(work: WorkItems, index: Coordinate, works: list[WorkItems]) -> Counting | None:
    statements = [s for part in work.work for s in part.walk()]
    adds = [s for s in statements if s.form == "expression" and s.value and s.value.kind == "call"]
    addresses = [_address(s) for s in adds]
    names = {p[0] for p in addresses if p}
    if not adds or None in addresses or len(names) != 1:
        return None
    name = names.pop()
    buffer = next((p for p in work.kernel.parameters if p.name == name), None)
    uses = sum(n.kind == "name" and n.value == name for s in work.work for n in s.nodes())
    uses += sum(name in d.value.names() for _, d in work.lead if d.value)
    non_adds = [s for s in statements if s.form == "expression" and s not in adds]
    sets = all(s.value and s.value.kind == "assign" and s.value.parts[0].kind == "name" for s in non_adds)
    size = _cleared(work, buffer, works) if buffer else ""
    if not buffer or buffer.pointee not in _WHOLE or uses != len(adds) or not sets or not size:
        return None
    passed = any(str(a).split(":")[0] == size for a in work.launch["args"])
    if not passed and words(work.file.code[work.kernel.head[1] : work.kernel.body[1]], size):
        return None
    return Counting(work, index, buffer, tuple((p[1], p[2]) for p in addresses if p), size)


def _address(statement: BodyStatement) -> tuple[str, Expression, Expression] | None:
    """Find the buffer, the address and the place of an atomic addition whose result nobody uses."""
    node = statement.value
    if not node or node.value != "atomicAdd" or len(node.parts) != 2:
        return None
    address = node.parts[0]
    if address.kind == "unary" and address.value == "&" and address.parts[0].kind == "index":
        base, subscript = address.parts[0].parts
    elif address.kind == "binary" and address.value == "+":
        base, subscript = address.parts
    else:
        return None
    return (base.value, address, subscript) if base.kind == "name" else None


def _cleared(work: WorkItems, buffer: Parameter, works: list[WorkItems]) -> str:
    """Find the plan's name of the number of elements that another, earlier launch sets to zero one by one."""
    launches = list(work.file.plan["launch"])
    argument = dict(zip((p.name for p in work.kernel.parameters), work.launch["args"], strict=True))[buffer.name]
    for other in works:
        earlier = launches.index(other.launch) < launches.index(work.launch)
        arguments = dict(zip((p.name for p in other.kernel.parameters), other.launch.get("args", []), strict=False))
        bounds = {i.name: arguments.get(i.bound, "") for i in other.indices}
        if not earlier or len(other.indices) != 1 or other.conditions or len(other.work) != 1:
            continue
        node = other.work[0].value
        if not node or node.kind != "assign" or node.value != "=" or node.parts[0].kind != "index":
            continue
        base, subscript = node.parts[0].parts
        index = other.indices[0].name
        is_zero = node.parts[1].kind == "number" and node.parts[1].value.rstrip("uUlL") == "0"
        if arguments.get(base.value) == argument and is_zero and other.poly(subscript) == atom(index):
            return str(bounds[index]).split(":")[0]
    return ""
