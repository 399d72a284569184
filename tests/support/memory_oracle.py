"""What memory instructions do, in NumPy and by their names alone: lanes in order, bytes of one array a state."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_MOVE = re.compile(
    r"(?P<space>global|flat|scratch|buffer|ds|s|s_buffer|s_scratch)_(?P<verb>load|store|read|write)_"
    r"(?P<size>[usb]?(?:byte|short)|dword(?:x(?P<count>\d+))?|[biu](?P<bits>\d+))(?P<half>_d16(?:_hi)?)?"
)
_ATOMIC = re.compile(
    r"(?:(?:global|flat|buffer|s|s_buffer)_atomic|ds)_(?P<op>add|sub|rsub|[us]?min|[us]?max|and|or|xor|inc|dec|swap|"
    r"wrxchg|cmpswap|cmpst|mskor|wrap|pk_add)(?P<rtn>_rtn)?_?(?P<type>x2|[fuib]\d+|bf16)?"
)


@dataclass(frozen=True)
class Move:
    """A load or a store of `size` bytes a lane; `half` says which half of the register a narrow one has, or nothing."""

    space: str
    is_load: bool
    size: int
    is_signed: bool
    half: str

    def loaded(self, raw: Array, old: Array) -> Array:
        """Registers, (n, dwords) of uint32, from bytes (n, size) and what the registers held."""
        if self.size >= 4:
            return np.ascontiguousarray(raw).view("<u4")
        narrow = np.ascontiguousarray(raw).view(f"<{'i' if self.is_signed else 'u'}{self.size}").astype(np.int64)
        if not self.half:
            return narrow.astype(np.uint32)
        low, old = (narrow & 0xFFFF).astype(np.uint32), old[:, None]
        return low << 16 | old & 0xFFFF if self.half == "_d16_hi" else old & ~np.uint32(0xFFFF) | low

    def stored(self, registers: Array) -> Array:
        """Bytes (n, size) from registers (n, dwords)."""
        shift = 2 if self.half == "_d16_hi" else 0
        return np.ascontiguousarray(registers).view(np.uint8)[:, shift : shift + self.size]


def move(name: str) -> Move | None:
    """The load or store of this name, None where it is neither."""
    if not (match := _MOVE.fullmatch(name)):
        return None
    size = match["size"]
    if size.endswith(("byte", "short")):
        width = 1 if size.endswith("byte") else 2
    else:
        width = int(match["bits"]) // 8 if match["bits"] else 4 * int(match["count"] or 1)
    is_load = match["verb"] in ("load", "read")
    return Move(match["space"], is_load, width, size[0] in "si" and size != "short", match["half"] or "")


@dataclass(frozen=True)
class Atomic:
    """A read-modify-write: `change(old, data, second)` on arrays of `type`; `second` is the other data operand."""

    type: np.dtype[Any]
    change: Callable[[Array, Array, Array], Array]
    takes_two: bool
    is_float: bool


def _wrapped(old: Array, data: Array, second: Array) -> Array:
    return np.where(old >= data, old - data, old + second)


def _packed(kind: Any) -> Callable[[Array, Array, Array], Array]:
    def add(old: Array, data: Array, _: Array) -> Array:
        halves = (np.ascontiguousarray(x).view(np.uint16).view(kind).astype(np.float32) for x in (old, data))
        total: Array = np.add(*halves).astype(kind).view(np.uint16)
        return total.view(np.uint32)

    return add


_INTEGERS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "add": lambda o, d, _: o + d,
    "sub": lambda o, d, _: o - d,
    "rsub": lambda o, d, _: d - o,
    "min": lambda o, d, _: np.minimum(o, d),
    "max": lambda o, d, _: np.maximum(o, d),
    "and": lambda o, d, _: o & d,
    "or": lambda o, d, _: o | d,
    "xor": lambda o, d, _: o ^ d,
    "inc": lambda o, d, _: np.where(o >= d, 0, o + 1).astype(o.dtype),
    "dec": lambda o, d, _: np.where((o == 0) | (o > d), d, o - 1).astype(o.dtype),
    "swap": lambda o, d, _: d,
    "wrxchg": lambda o, d, _: d,
    "cmpswap": lambda o, d, s: np.where(o == s, d, o),  # the new value, then what is compared
    "cmpst": lambda o, d, s: np.where(o == d, s, o),  # of LDS the other way round
    "mskor": lambda o, d, s: o & ~d | s,
    "wrap": _wrapped,
}


def atomic(name: str) -> Atomic | None:
    """The atomic operation of this name, None where it is none."""
    if not (match := _ATOMIC.fullmatch(name)):
        return None
    op, kind = match["op"], match["type"] or ""
    takes_two = op in ("cmpswap", "cmpst", "mskor", "wrap")
    if op == "pk_add":
        return Atomic(np.dtype("<u4"), _packed(np.float16 if kind == "f16" else ml_dtypes.bfloat16), False, False)
    if kind[:1] == "f":
        return Atomic(np.dtype(f"<f{int(kind[1:]) // 8}"), _INTEGERS[op], takes_two, True)
    signed = kind[:1] == "i" or op in ("smin", "smax")
    width = 8 if kind == "x2" or kind.endswith("64") else 4
    op = op[1:] if op[1:] in ("min", "max") else op
    return Atomic(np.dtype(f"<{'i' if signed else 'u'}{width}"), _INTEGERS[op], takes_two, False)
