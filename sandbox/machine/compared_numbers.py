"""Numbers that a program compares values with: where another way begins, inputs that hold such a number may show it.

What is read: vector comparisons, minima and maxima with a constant of a floating-point type, and equalities of integers
with a larger constant, as hashes and packed fields have them: small ones are of loops and lanes. A constant stands in
the instruction or was moved to a register before it. Comparisons of our own headers are left out, but for minima and
maxima.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.machine.instruction_decoder import DecodedInstruction
from sandbox.machine.operands import is_number
from sandbox.machine.places import Place

MOST = 64  # of one program
SMALL = 64  # integers that loops and lanes are compared with
_COMPARES = re.compile(r"v_cmpx?_(?!class)\w+_(?P<float>f16|f32|f64)|[vs]_cmp[xk]?_(?:eq|ne|lg)_[iu](?:16|32)")
_BOUNDS = re.compile(r"v_(?:max|min|med3)_(?P<float>f16|f32|f64)")
_MOVES = re.compile(r"[sv]_movk?_[bi]32|v_accvgpr_write_b32")
_PAIR = re.compile(r"([sv])\[(\d+):(\d+)\]")
# Of LLVM's own code for exp, exp2, log and sqrt, which stands at the line that calls them.
_EXPANDED = frozenset({-103.2789306640625, 88.72283935546875, -126.0, 2.0**-126, 2.0**-96})
_FORMATS = {"f16": ("<H", "<e"), "f32": ("<I", "<f")}


def compared_numbers(
    instructions: Sequence[DecodedInstruction], places: Sequence[Sequence[Place]], source_name: str
) -> tuple[float, ...]:
    """The finite numbers but zero, each once, in the order of the listing; at most MOST."""
    reader = _Reader()
    for instruction, chain in zip(instructions, places, strict=True):
        files = [name.rpartition("/")[2] for name, _ in chain]
        name = instruction.row.name
        if files and files[0] == source_name and (found := _COMPARES.match(name)):
            reader.compare(instruction.operands[1 if name.startswith("v_") else 0 :], found["float"] or "")
        elif source_name in files and (found := _BOUNDS.match(name)):
            reader.compare(instruction.operands[1:], found["float"])
        reader.follow(instruction)
    return tuple(reader.numbers)[:MOST]


@dataclass
class _Reader:
    """The constants that registers hold, as far as the text before tells, and the numbers so far."""

    moved: dict[str, str] = field(default_factory=dict)
    numbers: dict[float, None] = field(default_factory=dict)

    def follow(self, instruction: DecodedInstruction) -> None:
        if instruction.operands:
            to, *given = instruction.operands
            self.moved.pop(to, None)
            if _MOVES.fullmatch(instruction.row.name) and is_number(given[0]):
                self.moved[to] = given[0]

    def compare(self, words: Sequence[str], kind: str) -> None:
        for word in words:
            value = self._double(word) if kind == "f64" else None
            constant = self.moved.get(word, word)
            if value is None and is_number(constant):
                value = _value(constant, kind)
            if value and math.isfinite(value) and value not in _EXPANDED:
                self.numbers[value] = None

    def _double(self, word: str) -> float | None:
        """The number that two registers hold, whose halves were moved one by one."""
        pair = _PAIR.fullmatch(word)
        halves = [self.moved.get(f"{pair[1]}{number}", "") for number in (pair[2], pair[3])] if pair else []
        if not halves or not all(is_number(half) and "." not in half for half in halves):
            return None
        low, high = (int(half, 0) & 0xFFFFFFFF for half in halves)
        return float(struct.unpack("<d", struct.pack("<II", low, high))[0])


def _value(word: str, kind: str) -> float | None:
    """The number that a constant of the text stands for; `kind` is empty for integers."""
    try:
        bits = int(word, 0)
    except ValueError:
        return float(word)
    if not kind:
        return float(bits) if abs(bits) > SMALL else None
    if kind == "f64":  # a literal is the upper half
        return float(struct.unpack("<d", struct.pack("<Q", (bits & 0xFFFFFFFF) << 32))[0])
    whole, floating = _FORMATS[kind]
    size = struct.calcsize(whole)
    return float(struct.unpack(floating, struct.pack(whole, bits & ((1 << 8 * size) - 1)))[0])
