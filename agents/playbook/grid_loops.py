"""Loops in which a grid of any size takes all items in turn, as the work of one item; macros that hide nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.cpp.expression import TYPE_WORDS
from agents.cpp.polynomial import Polynomial, atom, polynomial
from agents.cpp.statement import BodyStatement
from agents.source import KernelFile, KernelText, words

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([\w, \t]*\))?((?:[^\n\\]|\\\n|\\.)*)$", re.M)
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_EFFECT = re.compile(r"[;{}#]|\+\+|--|(?<![=<>!])=(?!=)")


def as_one_item(
    file: KernelFile,
    kernel: KernelText,
    statements: Sequence[BodyStatement],
    launch: Mapping[str, Any],
    integers: Mapping[str, Polynomial],
) -> tuple[BodyStatement, ...] | None:
    """`for (i = number; i < n; i += all)` as `i = number; if (i < n)`; None where the last statement is another.

    The bound must be of parameters, so that a plan can say how many items there are.
    """
    loop = statements[-1] if statements else None
    if not loop or loop.form != "for" or not loop.first or not loop.step or not loop.value:
        return None
    declared, step, test = loop.first.declared, loop.step, loop.value
    if len(declared) != 1 or not declared[0].value or step.kind != "assign" or step.value != "+=" or test.value != "<":
        return None
    name, block = declared[0].name, integers["blockDim.x"]
    grid = launch.get("grid")
    is_one = [str(e) for e in grid] == ["1"] if isinstance(grid, list) else False
    first, stride = (polynomial(n, file.code, integers) for n in (declared[0].value, step.parts[1]))
    over_grid = atom("blockIdx.x") * block + atom("threadIdx.x"), atom("gridDim.x") * block
    alone = atom("threadIdx.x"), block
    if step.parts[0].value != name or (first, stride) not in ((over_grid, alone) if is_one else (over_grid,)):
        return None
    left, bound = test.parts
    parameters = {p.name for p in kernel.parameters if not p.is_pointer}
    plain = all(n.kind in ("name", "number", "cast") or n.value in ("+", "*", "-") for n in bound.walk())
    if left.value != name or not plain or not bound.names() <= parameters:
        return None
    item = BodyStatement("declare", loop.first.start, loop.first.end, type=loop.first.type, declared=declared)
    inside = BodyStatement("if", loop.start, loop.end, value=test, body=loop.body)
    return (*statements[:-1], item, inside)


def in_plan(bound: str, plan_names: Mapping[str, str]) -> str:
    """Write a bound of parameters in the plan's names."""
    return re.sub(r"\([A-Za-z_ ]+\)\s*(?=[\w(])", "", _WORD.sub(lambda m: plan_names.get(m.group(), m.group()), bound))


def hides_nothing(file: KernelFile, kernel: KernelText) -> bool:
    """Tell whether each macro that the kernel uses is an expression of its arguments and of the kernel's parameters."""
    allowed = {p.name for p in kernel.parameters if not p.is_pointer} | set(file.tunables) | TYPE_WORDS
    defined = {m[1]: m for m in _DEFINE.finditer(file.code)}
    for name, macro in defined.items():
        if not words(file.code, name, *kernel.body):
            continue
        arguments = set(_WORD.findall(macro[2] or ""))
        used = {w for w in _WORD.findall(macro[3]) if not re.search(rf"\b{w}\s*\(", macro[3])}
        if _EFFECT.search(macro[3]) or used - arguments - allowed - set(defined):
            return False
    return True
