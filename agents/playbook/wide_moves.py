"""Loops whose lanes lie one element apart: each lane takes several neighbours at a time, so that accesses are wide.

The loop may stand anywhere in a kernel, beside shared memory, barriers and shuffles that are left as they are. What a
lane gets of the row changes, and so does the order of a sum; all such loops of a kernel change together, so that a lane
finds what it stored itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents.cpp.expression import Expression, NotUnderstood, parse_expression
from agents.cpp.polynomial import ONE, Polynomial, atom, polynomial
from agents.cpp.statement import BodyStatement, parse_body
from agents.playbook.emitted import are_free, fresh_name, indented, passes, with_restrict
from agents.playbook.loop_moves import statement_end
from agents.playbook.plan_moves import LANES, integer_constants
from agents.playbook.reductions import Counted, has_effects, reductions
from agents.playbook.work_items import assigned
from agents.source import KernelFile, KernelText, closing, on_directive, substitute, with_plan, words

WIDE = [4, 1, 2, 8]
LANE, BLOCK = "threadIdx.x", "blockIdx.x"
_TOGETHER = re.compile(r"__sync|barrier|asm\b|__builtin_amdgcn|atomic|threadIdx|__shared__")
_INTEGER = r"(?:const\s+)?(?:unsigned\s+int|unsigned|int|long\s+long|long|size_t|uint32_t|int32_t|auto)"


@dataclass(frozen=True)
class LaneLoop:
    """`for (type name = first; name < end; name += stride)` of which each lane takes one pass in `stride`."""

    loop: BodyStatement
    name: str
    type: str
    first: str
    end: str
    stride: str
    lane: str  # the number of the lane among those that share the loop

    def text(self, file: KernelFile, wide: str) -> str:
        """Write the loop with `wide` neighbouring passes a lane."""
        inside = self.loop.body
        body = file.source[inside[0].start : inside[-1].end]
        first = f"({self.first}) + ({self.type})({self.lane}) * ({wide} - 1)"
        lines = passes(self.name, self.type, first, f"({self.end})", body, f"({self.stride}) * {wide}", wide)
        return "\n".join(["{", *indented(lines, 4), "}"])


def wide_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels with such loops, by name."""
    if not are_free(file, reserved, "WIDE"):
        return ()
    return tuple(kernel.name for kernel in file.kernels if _loops(file, kernel))


def wide_lanes(file: KernelFile, variant: str) -> str:
    """Each such loop of the kernel with several neighbours a lane."""
    kernel = next(k for k in file.kernels if k.name == variant)
    wide = fresh_name(file, "WIDE")
    edits = [(loop.loop.start, loop.loop.end, loop.text(file, wide)) for loop in _loops(file, kernel)]
    plan = {**file.plan, "tunables": {**file.tunables, wide: WIDE}}
    return with_restrict(with_plan(file, plan, substitute(file.source, edits)))


def _loops(file: KernelFile, kernel: KernelText) -> tuple[LaneLoop, ...]:
    """All loops of a kernel that its lanes share; none where one of them cannot be taken in another order."""
    block = _block(file, kernel)
    if not block:
        return ()
    integers = {name: Polynomial({(): value}) for name, value in integer_constants(file).items()}
    size = integers.get(block, Polynomial({(): int(block)}) if block.isdecimal() else atom(block))
    integers |= {"blockDim.x": size}
    loops, end = list[LaneLoop](), -1
    for match in words(file.code, "for", *kernel.body):
        if match.start() < end or on_directive(file.code, match.start()):
            continue
        statement = _parsed(file, match.start())
        lane_loop = _lane_loop(file, kernel, statement, size, integers) if statement else None
        if lane_loop is None:
            continue
        if not _is_free(file, kernel, lane_loop, integers):
            return ()
        loops.append(lane_loop)
        end = lane_loop.loop.end
    return tuple(loops) if any(_is_contiguous(file, kernel, loop, integers) for loop in loops) else ()


def _block(file: KernelFile, kernel: KernelText) -> str:
    """Return the plan's work-items of a block, which all lie along x; empty where launches differ."""
    blocks = {tuple(str(e).strip() for e in launch.get("block", [])) for launch in file.launches(kernel.name)}
    first = blocks.pop() if len(blocks) == 1 else ()
    return first[0] if first and set(first[1:]) <= {"1"} and re.fullmatch(r"\w+", first[0]) else ""


def _parsed(file: KernelFile, offset: int) -> BodyStatement | None:
    """Read the loop that begins here, whatever stands around it."""
    close = closing(file.code, file.code.find("(", offset))
    end = statement_end(file.code, close + 1) if close > 0 else -1
    try:
        [statement] = parse_body(file.code, offset, end) if end > 0 else ()
    except (NotUnderstood, ValueError):
        return None
    return statement if statement.form == "for" and statement.body else None


def _lane_loop(
    file: KernelFile, kernel: KernelText, loop: BodyStatement, size: Polynomial, integers: Mapping[str, Polynomial]
) -> LaneLoop | None:
    """Read a loop of lanes one element apart, of a block or of the whole grid; None for every other one."""
    first, step, test = loop.first, loop.step, loop.value
    if not first or not step or not test or len(first.declared) != 1 or step.kind != "assign" or step.value != "+=":
        return None
    declared, name = first.declared[0], first.declared[0].name
    is_below = test.kind == "binary" and test.value == "<" and test.parts[0].value == name
    if not declared.value or declared.is_pointer or not is_below or step.parts[0].value != name:
        return None
    start = _value(file, kernel, declared.value, integers)
    stride = _value(file, kernel, step.parts[1], integers)
    if start.along(LANE) != ONE or first.type == "auto":
        return None
    if stride == size:
        lane = LANE
    elif stride == size * atom("gridDim.x") and start.along(BLOCK) == size:
        lane = f"{BLOCK} * blockDim.x + {LANE}"
    else:
        return None
    kind = " ".join(w for w in first.type.split() if w != "const")
    begins, ends, grows = (file.source[n.start : n.end] for n in (declared.value, test.parts[1], step.parts[1]))
    return LaneLoop(loop, name, kind, begins, ends, grows, lane)


def _value(
    file: KernelFile, kernel: KernelText, node: Expression, integers: Mapping[str, Polynomial], depth: int = 4
) -> Polynomial:
    """Put an expression in terms of the lane, the block and the parameters, through variables that are set once."""
    values = dict(integers)
    for name in node.names() if depth else ():
        set_once = _set_once(file, kernel, name)
        if name not in values and set_once is not None:
            values[name] = _value(file, kernel, set_once, integers, depth - 1)
    return polynomial(node, file.code, values)


def _set_once(file: KernelFile, kernel: KernelText, name: str) -> Expression | None:
    """Find the value of an integer that the kernel declares and never changes; None for every other name."""
    changes = words(file.code, rf"{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", *kernel.body)
    moves = words(file.code, rf"(?:\+\+|--)\s*{name}", *kernel.body) or words(
        file.code, rf"{name}\s*(?:\+\+|--)", *kernel.body
    )
    if len(changes) != 1 or moves or re.search(r"[-+*/%&|^<>]\s*=$", changes[0].group()):
        return None
    before = file.code[kernel.body[0] : changes[0].start()]
    opening = max(before.rfind(sign) for sign in ";{}")
    if not re.match(rf"\s*{_INTEGER}\s+(?:[^;]*,\s*)?$", before[opening + 1 :]):
        return None
    value = re.compile(r"[^;,]*").match(file.code, changes[0].end())
    try:
        return parse_expression(file.code, value.start(), value.end()) if value else None
    except NotUnderstood:
        return None


def _is_free(file: KernelFile, kernel: KernelText, lane_loop: LaneLoop, integers: Mapping[str, Polynomial]) -> bool:
    """Tell whether the passes may come in any order and be taken by any lane."""
    loop, name = lane_loop.loop, lane_loop.name
    inside, changed = file.code[loop.body[0].start : loop.body[-1].end], assigned(loop.body)
    leaves = {part.form for s in loop.body for part in s.walk()} & {"return", "break", "continue"}
    if leaves or _TOGETHER.search(inside) or LANES.search(inside) or name in changed:
        return False
    if any(words(file.code, f"{name}_{part}") for part in ("first", "item")):
        return False
    test = loop.value
    end = test.parts[1] if test else None
    pointers = frozenset(p.name for p in kernel.parameters if p.is_pointer)
    values = [v for s in loop.body for part in s.walk() for v in (part.value, *(d.value for d in part.declared)) if v]
    if end is None or end.names() & (changed | {name}) or has_effects([end, *values], pointers):
        return False
    outer = (
        frozenset(n for s in loop.body for n in s.names()) - {name} - frozenset(n for s in loop.body for n in s.makes())
    )
    if any(
        LANE in _value(file, kernel, _named(file, kernel, n), integers).atoms for n in outer if _is_set(file, kernel, n)
    ):
        return False
    counted = Counted(loop, name, lane_loop.type, lane_loop.first, lane_loop.end)
    return reductions(counted) is not None


def _is_set(file: KernelFile, kernel: KernelText, name: str) -> bool:
    return _set_once(file, kernel, name) is not None


def _named(file: KernelFile, kernel: KernelText, name: str) -> Expression:
    value = _set_once(file, kernel, name)
    assert value is not None
    return value


def _is_contiguous(file: KernelFile, kernel: KernelText, loop: LaneLoop, integers: Mapping[str, Polynomial]) -> bool:
    """Tell whether neighbouring passes access neighbouring elements."""
    subscripts = [n.parts[1] for s in loop.loop.body for n in s.nodes() if n.kind == "index"]
    return any(_value(file, kernel, subscript, integers).along(loop.name) == ONE for subscript in subscripts)
