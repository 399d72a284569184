"""Indices of an iteration as digits: an axis is one or several of them, in any shape that has the same elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from imports.graph import Size
from imports.hip_values import c_expression
from imports.schedules.case_sizes import CaseSizes, Digit

ROW, VECTOR, ELEMENT = range(3)  # the level of a loop at which a value is the same
ITEM = "v_"  # the number of an element in a vector


class NotDirect(Exception):
    """Raised for a value that rests on a result of the same kernel in a way that the kernel cannot follow."""


class IndexDigits:
    """The digits of one kernel's indices, and the statements that compute them."""

    def __init__(self, extents: CaseSizes) -> None:
        self.splits = 0
        self.vector_steps: dict[str, Size] = {}  # sizes that whole vectors must divide, by their texts
        self.prelude: dict[int, list[str]] = {ROW: [], VECTOR: []}  # at the beginning of a row or a vector
        self.starts: dict[str, str] = {}  # of an index of an element, the text for the first one of its vector
        self.levels: dict[str, int] = {ITEM: ELEMENT, "o_": ROW}
        self._extents = extents
        self._digits: dict[str, list[Digit]] = {}
        self._parts: dict[tuple[str, str], list[Digit]] = {}
        self._variable_count = 0

    def element_index(self, start: str) -> str:
        """Write the index of an element of the vector that begins at a variable."""
        self.levels[start] = VECTOR
        text = f"({start} + {ITEM})"
        self.starts[text] = start
        return text

    def at_vector(self, variable: str) -> None:
        """Name an index that differs from turn to turn of the loop over vectors."""
        self.levels[variable] = VECTOR

    def new_variable(self, level: int) -> str:
        """Name a new variable."""
        self._variable_count += 1
        variable = f"t{self._variable_count}_"
        self.levels[variable] = level
        return variable

    def level(self, text: str) -> int:
        """Find the level of a text: that of the variable in it that changes most often."""
        return max((self.levels.get(word, ROW) for word in re.findall(r"[A-Za-z]\w*_\b", text)), default=ROW)

    def storage_element(self, buffer: str, shape: Sequence[Size], indices: Sequence[str]) -> str:
        """Write an element of a buffer; neighbours of a vector differ by a constant alone."""
        digits = self._whole_digits(shape, indices)
        start = self.starts.get(digits[-1].text) if digits else None
        if start is None:
            return f"q_.{buffer}[{_horner(digits)}]"
        return f"(q_.{buffer} + ({_horner([*digits[:-1], replace(digits[-1], text=start)])}))[{ITEM}]"

    def digits_of(self, shape: Sequence[Size], indices: Sequence[str]) -> list[Digit]:
        """List the digits that the indices of a shape have, without axes of one element."""
        digits = list[Digit]()
        for size, index in zip(shape, indices, strict=True):
            parts = self._digits.get(index, [])
            is_whole = bool(parts) and self._extents.are_equal([size], [d.size for d in parts])
            if str(size) != "1":
                digits += parts if is_whole else [Digit(index, size)]  # else a part of the axis, as a slice has
        return digits

    def _whole_digits(self, shape: Sequence[Size], indices: Sequence[str]) -> list[Digit]:
        """List the digits of a place in a dense buffer; the parts of one that was split become whole again."""
        return _whole(self.digits_of(shape, indices))

    def coordinates(self, digits: Sequence[Digit], shape: Sequence[Size]) -> list[str]:
        """Write the indices of a shape with an iteration's elements in its order; NotDirect where it has others."""
        left, indices = list(digits), list[str]()
        for axis, size in enumerate(shape):
            rest = [s for s in shape[axis + 1 :] if str(s) != "1"]
            if str(size) == "1":
                indices.append("0")
                continue
            mine = list[Digit]()
            while left and not self._extents.are_equal([size], [d.size for d in mine]):
                reached = [*(d.size for d in mine), left[0].size]
                for count in range(1, len(rest) + 1):
                    if self._extents.are_equal(reached, [size, *rest[:count]]):
                        left[0:1] = self._parted(left[0], [d.size for d in mine], size, rest[:count])
                        break
                mine.append(left.pop(0))
            if not self._extents.are_equal([size], [d.size for d in mine]):
                raise NotDirect("shapes that do not match")
            indices.append(self._joined(mine))
        if any(not self._extents.are_equal([d.size], [1]) for d in left):
            raise NotDirect("shapes that do not match")
        return indices

    def _joined(self, digits: list[Digit]) -> str:
        digits = _whole(digits)
        if len(digits) == 1:
            self._digits.setdefault(digits[0].text, digits)
            return digits[0].text
        text = f"({_horner(digits)})"
        self._digits[text] = digits
        last = digits[-1].text
        if last in self.starts:
            self.starts[text] = text[: -len(last) - 1] + self.starts[last] + ")"
        return text

    def _parted(self, digit: Digit, before: Sequence[Size], size: Size, rest: Sequence[Size]) -> list[Digit]:
        """Split a digit into the part that completes an axis and the rest, once for a vector."""
        if before:
            raise NotDirect("an axis that is a part of another")
        lower = " * ".join(f"({s})" for s in rest) if len(rest) > 1 else rest[0]
        key = (digit.text, str(lower))
        if key in self._parts:
            return list(self._parts[key])
        self.splits += 1
        start = self.starts.get(digit.text)
        if start is not None:
            self.vector_steps[str(lower)] = lower
        divided = start or digit.text
        quotient = self._index_variable(f"{divided} / {c_expression(lower)}")
        remainder = self._index_variable(f"{divided} - {quotient} * {c_expression(lower)}")
        if start is not None:
            remainder = self.element_index(remainder)
        pair = [Digit(quotient, size, digit.text, True), Digit(remainder, lower, digit.text)]
        if self.level(quotient) < ELEMENT:
            self._parts[key] = pair
        for part in pair:
            self._digits[part.text] = [part]
        return list(pair)

    def _index_variable(self, expression: str) -> str:
        level = self.level(expression)
        if level == ELEMENT:
            return f"({expression})"
        variable = self.new_variable(level)
        self.prelude[level].append(f"const Index {variable} = {expression};")
        return variable


def _whole(digits: Sequence[Digit]) -> list[Digit]:
    """Put the parts of a digit that was split in its place, where they follow one another."""
    left, joined = list(digits), list[Digit]()
    while left:
        digit = left.pop(0)
        if left and digit.is_quotient and left[0].parent == digit.parent and not left[0].is_quotient:
            digit = Digit(digit.parent, f"({digit.size}) * ({left.pop(0).size})")
        joined.append(digit)
    return joined


def _horner(digits: Sequence[Digit]) -> str:
    text = digits[0].text if digits else "0"
    for digit in digits[1:]:
        text = f"({text}) * {c_expression(digit.size)} + {digit.text}"
    return text
