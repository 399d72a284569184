"""Both sides of what a candidate compared, each time, and the value of an input that each of them was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tasks.dtypes import is_float, to_float64
from tasks.task import Array

NONE, DIRECT, SIZED, RAW = 0, 1, 2, 3  # not one of the inputs' values; it is; its magnitude is; its bits are some bytes
SIZE = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
_WORDS = {
    "half": (np.uint16, np.float16),
    "bfloat": (np.uint16, ml_dtypes.bfloat16),
    "float": (np.uint32, np.float32),
    "double": (np.uint64, np.float64),
}
_RELATIONS = {"eq": "equal", "ne": "differ", "lt": "less", "le": "less", "gt": "greater", "ge": "greater"}

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]
Known = tuple[Reals, Ints, Ints]


@dataclass(frozen=True)
class Compared:
    """One comparison in one execution: a row for each time that it was recorded."""

    how: str  # LLVM's word for it
    kind: str  # LLVM's type of both sides
    truth: Flags
    left: Bits
    right: Bits
    names: tuple[str, ...]  # of the buffers
    buffers: Ints  # rows x loads: the buffer's number, or -1
    offsets: Ints  # rows x loads: bytes into it
    sizes: Ints  # rows x loads: bytes that were loaded there
    fixed: tuple[bool, bool] = (False, False)  # which sides are numbers in the code

    @property
    def relation(self) -> str:
        """The question: are both equal, do they differ, is the left one less or greater; empty for anything else."""
        return _RELATIONS.get(self.how[-2:], "")

    def only(self, rows: Ints) -> Compared:
        """Some of the rows."""
        return replace(
            self,
            truth=self.truth[rows],
            left=self.left[rows],
            right=self.right[rows],
            buffers=self.buffers[rows],
            offsets=self.offsets[rows],
            sizes=self.sizes[rows],
        )

    def values(self, side: int) -> Reals:
        """The numbers of one side."""
        bits = self.right if side else self.left
        if self.kind in _WORDS:
            word, kind = _WORDS[self.kind]
            return np.asarray(to_float64(bits.astype(word).view(kind)))
        free = np.uint64(64 - int(self.kind[1:]))
        if self.how.startswith("u"):
            return bits.astype(np.float64)
        return ((bits << free).view(np.int64) >> free.astype(np.int64)).astype(np.float64)

    def distance(self) -> float:
        """The gap between both sides where they are nearest; infinite where that is no number."""
        with np.errstate(all="ignore"):
            apart = np.abs(self.values(0) - self.values(1))
        return float(np.min(apart, initial=np.inf, where=np.isfinite(apart)))

    def elements(self, rows: Ints, made: Mapping[str, Array]) -> Iterator[tuple[Array, Ints, Ints]]:
        """The inputs, each with the places of values that the sides follow from, and the row of each."""
        for slot, name, size, mine in self.slots(made, rows):
            width = made[name].dtype.itemsize
            each = self.offsets[mine, slot][:, None] // width + np.arange(max(1, size // width))
            of = np.broadcast_to(mine[:, None], each.shape)
            fits = each < made[name].size
            yield made[name], each[fits], of[fits]

    def slots(self, made: Mapping[str, Array], rows: Ints) -> Iterator[tuple[int, str, int, Ints]]:
        """Of these rows those whose load of one number was one of so many bytes from an input."""
        for slot in range(self.buffers.shape[1]):
            for name in made:
                mine = rows[self.buffers[rows, slot] == self._number(name)]
                for size in np.unique(self.sizes[mine, slot]).tolist():
                    yield slot, name, size, mine[self.sizes[mine, slot] == size]

    def _number(self, name: str) -> int:
        return self.names.index(name) if name in self.names else -2


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its numbers, its bits, and the value of an input that each is."""

    side: int
    kind: str
    values: Reals
    bits: Bits
    names: Sequence[str]
    how: Ints
    name: Ints
    at: Ints  # of an element, or of a byte where it is raw

    def put(self, made: Mapping[str, Array], rows: Ints, values: Reals, bits: Bits) -> None:
        """Write numbers to the places of these rows, as far as the inputs' types hold them."""
        for number in np.unique(self.name[rows]).tolist():
            into, mine = made[self.names[number]], self.name[rows] == number
            how, at, new, raw = self.how[rows][mine], self.at[rows][mine], values[mine], bits[mine]
            width = SIZE.get(self.kind, 1)
            for place, word in zip(at[how == RAW].tolist(), raw[how == RAW].tolist(), strict=True):
                data = (int(word) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
                into.view(np.uint8)[place : place + width] = np.frombuffer(data, np.uint8)
            for code in (DIRECT, SIZED):
                places, each = at[how == code], new[how == code]
                if not is_float(into.dtype):
                    fits = (each == np.rint(each)) & (each >= 0) & (each <= np.iinfo(into.dtype).max)
                    places, each = places[fits], each[fits]
                elif code == SIZED:
                    each = np.where(to_float64(into[places]) < 0, -np.abs(each), np.abs(each))
                with np.errstate(all="ignore"):
                    into[places] = each.astype(into.dtype)


def found_by_value(made: Mapping[str, Array]) -> Known:
    """All values of floating inputs in order, with the input and the place of each."""
    real = [(number, x) for number, x in enumerate(made.values()) if is_float(x.dtype)]
    values = np.concatenate([to_float64(x) for _, x in real]) if real else np.zeros(0)
    names = np.concatenate([np.full(x.size, number) for number, x in real]) if real else np.zeros(0, np.int64)
    places = np.concatenate([np.arange(x.size) for _, x in real]) if real else np.zeros(0, np.int64)
    order = np.argsort(values, kind="stable")
    return values[order], names[order], places[order]


def side_of(one: Compared, side: int, made: Mapping[str, Array], known: Known) -> Side:
    """The values of inputs that a side is: by the places that it was loaded from, or by its value alone."""
    values, bits = one.values(side), one.right if side else one.left
    count, names = values.size, list(made)
    found = Side(side, one.kind, values, bits, names, *(np.zeros(count, np.int64) for _ in range(3)))
    if one.fixed[side]:
        return found
    for slot, name, size, rows in one.slots(made, np.arange(count)):
        rows = rows[found.how[rows] == NONE]
        if rows.size:
            _look(found, made[name], names.index(name), rows, one.offsets[rows, slot], size)
    if one.kind in _WORDS:
        _recognise(found, known)
    return found


def _look(found: Side, x: Array, number: int, rows: Ints, offsets: Ints, size: int) -> None:
    """Note which of the values that were loaded a side is."""
    width = x.dtype.itemsize
    for step in range(max(1, size // width)):
        at = np.minimum(offsets // width + step, x.size - 1)
        value = to_float64(x[at])
        is_same = value == found.values[rows]
        is_sized = (np.abs(value) == found.values[rows]) & ~is_same
        for code, hits in ((DIRECT, is_same), (SIZED, is_sized)):
            mine = hits & (found.how[rows] == NONE)
            found.how[rows[mine]], found.name[rows[mine]], found.at[rows[mine]] = code, number, at[mine]
    wide = SIZE.get(found.kind, 0)
    data, shifts = x.view(np.uint8), 8 * np.arange(wide, dtype=np.uint64)
    for step in range(size // wide if wide and found.kind.startswith("i") else 0):
        at = offsets + step * wide
        words = (data[np.minimum(at[:, None] + np.arange(wide), data.size - 1)].astype(np.uint64) << shifts).sum(axis=1)
        mine = (words == found.bits[rows]) & (found.how[rows] == NONE) & (at + wide <= data.size)
        found.how[rows[mine]], found.name[rows[mine]], found.at[rows[mine]] = RAW, number, at[mine]


def _recognise(found: Side, known: Known) -> None:
    """Note the places of values that one element alone has, where a side is none of those that were loaded."""
    ordered, names, places = known
    if not ordered.size:
        return
    for code, sign in ((DIRECT, 1.0), (SIZED, -1.0)):
        rows = np.flatnonzero((found.how == NONE) & np.isfinite(found.values) & (found.values != 0))
        wanted = sign * found.values[rows]
        low, high = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
        mine, at = rows[high - low == 1], low[high - low == 1]
        found.how[mine], found.name[mine], found.at[mine] = code, names[at], places[at]
