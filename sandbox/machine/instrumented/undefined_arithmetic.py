"""Integer arithmetic that C++ leaves undefined: divisors of zero, large quotients and shifts, zeros beside no bit.

A division by zero gives minus one here and there on a GPU and stops nothing; the optimiser takes it that it cannot
happen, and drops what contradicts it. So the divisor is replaced by one behind its probe, and the amount of a shift is
cut as the instructions cut it. A shift by exactly as many bits as the value has is let pass: a rotation by nothing is
usually written so, and the instructions make the right value of it.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import LOCAL
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.ir_edits import Edits, element_bits, splat

_OPERATION = re.compile(
    rf"^(?P<head>  {LOCAL} = (?P<op>[su]div|[su]rem|shl|[al]shr) (?:(?:exact|nuw|nsw) )*"
    rf"(?P<kind>i\d+|<\d+ x i\d+>) (?P<left>.+?), )(?P<right>{LOCAL})(?P<rest>(?:, !.*)?)$"
)
_COUNT = re.compile(
    rf"^(?P<head>  {LOCAL} = (?:tail )?call (?:range\(.*?\) )?(?P<kind>i\d+) @llvm\.ct[lt]z\.i\d+\("
    rf"i\d+ (?:noundef )?)(?P<right>{LOCAL}), i1 true\)(?P<rest>.*)$"
)
_WORDS = ("div ", "rem ", " shl ", "shr ", "@llvm.ct")


def arithmetic(edits: Edits) -> None:
    """Probe every division and shift by a number that is no constant, and every count of zeros that bars none."""
    if not any(word in edits.body.text for word in _WORDS):
        return
    for number, line in enumerate(edits.body.lines):
        match = any(word in line for word in _WORDS) and _OPERATION.match(line)
        if match and element_bits(match["kind"]) >= 8:
            safe = (_shift if match["op"].startswith(("sh", "as", "ls")) else _division)(edits, number, match)
            edits.instead[number] = [f"{match['head']}{safe}{match['rest']}"]
        elif "@llvm.ct" in line and (match := _COUNT.match(line)):
            _zeros(edits, number, match)


def _zeros(edits: Edits, number: int, match: re.Match[str]) -> None:
    """Probe a count, but where clang itself puts another number there for no bit: in ffs and clzg."""
    comparison = f" = icmp eq {match['kind']} {match['right']}, 0"
    if not any(comparison in line for line in edits.body.lines[number + 1 : number + 3]):
        none = edits.value(number, comparison.removeprefix(" = "))
        edits.test(number, none, FaultProbe("trap", detail="zeros"))
        edits.instead[number] = [f"{match['head']}{match['right']}, i1 false){match['rest']}"]


def _division(edits: Edits, number: int, match: re.Match[str]) -> str:
    kind, left, right = match["kind"], match["left"], match["right"]
    truth = re.sub(r"i\d+", "i1", kind)
    bad = edits.value(number, f"icmp eq {kind} {right}, {splat(kind, 0)}")
    if match["op"].startswith("s"):
        least = edits.value(number, f"icmp eq {kind} {left}, {splat(kind, -(1 << element_bits(kind) - 1))}")
        minus = edits.value(number, f"icmp eq {kind} {right}, {splat(kind, -1)}")
        overflow = edits.value(number, f"and {truth} {least}, {minus}")
        bad = edits.value(number, f"or {truth} {bad}, {overflow}")
    safe = edits.value(number, f"select {truth} {bad}, {kind} {splat(kind, 1)}, {kind} {right}")
    some = edits.any_of(number, kind, f"icmp ne {truth} {bad}, {'zeroinitializer' if kind[0] == '<' else 'false'}")
    edits.test(number, some, FaultProbe("division_by_zero"), edits.wide(number, kind, right))
    return safe


def _shift(edits: Edits, number: int, match: re.Match[str]) -> str:
    kind, right, bits = match["kind"], match["right"], element_bits(match["kind"])
    some = edits.any_of(number, kind, f"icmp ugt {kind} {right}, {splat(kind, bits)}")
    edits.test(number, some, FaultProbe("shift", limit=bits), edits.wide(number, kind, right))
    return edits.value(number, f"and {kind} {right}, {splat(kind, bits - 1)}")
