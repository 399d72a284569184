"""Constants and variables of a listing: bytes of the allocated sections, with what must be filled in at the end."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.machine.assembler_expressions import evaluate
from sandbox.machine.operands import integer, is_number
from sandbox.machine.unreadable import UndefinedName, UnreadableListing

MAX_BYTES = 128 << 20  # of all sections together
_SIZES = {
    **dict.fromkeys((".byte",), 1),
    **dict.fromkeys((".short", ".hword", ".2byte", ".value"), 2),
    **dict.fromkeys((".long", ".int", ".word", ".4byte"), 4),
    **dict.fromkeys((".quad", ".8byte", ".xword"), 8),
}
_FLOATS = {".float": "<f", ".single": "<f", ".double": "<d"}
_STRINGS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
_ZEROS = (".zero", ".space", ".skip")
_ALIGNMENTS = (".p2align", ".balign", ".align")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)|([^\\])", re.S)
_ESCAPED = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "\\": 92, '"': 34, "v": 11, "a": 7}
DIRECTIVES = frozenset((*_SIZES, *_FLOATS, *_STRINGS, *_ZEROS, *_ALIGNMENTS, ".fill", ".octa"))


@dataclass
class DataSection:
    """One section while it is read: `holes` are places whose value is an expression over symbols."""

    name: str
    is_writable: bool
    content: bytearray = field(default_factory=bytearray)
    holes: list[tuple[int, int, str, int]] = field(default_factory=list)  # offset, bytes, expression, listing's line
    alignment: int = 16
    start: int = 0  # offset in the image's data

    def add(self, directive: str, text: str, row: int, budget: int) -> None:
        """Append what a directive says; `budget` bytes are left for all sections."""
        if size := _SIZES.get(directive):
            for part in text.split(","):
                self._value(part.strip(), size, row)
        elif directive in _STRINGS:
            for part in re.findall(r'"((?:[^"\\]|\\.)*)"', text):
                self.content += _string(part) + _STRINGS[directive]
        elif directive in _FLOATS:
            self.content += b"".join(_float(_FLOATS[directive], part.strip()) for part in text.split(","))
        elif directive == ".octa":
            self.content += b"".join((integer(p.strip()) % (1 << 128)).to_bytes(16, "little") for p in text.split(","))
        elif directive == ".fill":
            self._fill([part.strip() for part in text.split(",")], budget)
        elif directive in _ZEROS:
            parts = [part.strip() for part in text.split(",")]
            self._repeat(bytes([integer(parts[1]) & 255 if len(parts) > 1 else 0]), integer(parts[0]), budget)
        else:
            self._align(directive, integer(text.split(",")[0].strip()), budget)

    def resolve(self, value_of: Callable[[str, int], int], base: int) -> None:
        """Fill the holes; `value_of` gives an expression's value at a guest address, `base` is the data's address."""
        for offset, size, text, row in self.holes:
            try:
                value = value_of(text, base + self.start + offset)
            except UnreadableListing as refused:
                raise refused.placed(row, text[:80], ("", 0)) from None
            if not -(1 << 8 * size - 1) <= value < 1 << 8 * size and size < 8:
                raise UnreadableListing(f"this value does not fit into {size} bytes", text[:80], row, text[:80])
            self.content[offset : offset + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def _value(self, text: str, size: int, row: int) -> None:
        if is_number(text) and "." not in text:
            self.content += (integer(text) % (1 << 8 * size)).to_bytes(size, "little")
            return
        if "@" not in text and not re.search(r"[A-Za-z_$\"]", re.sub(r"0[xX][0-9a-fA-F]+", "", text)):
            self.content += (evaluate(text, _no_symbol) % (1 << 8 * size)).to_bytes(size, "little")
            return
        self.holes.append((len(self.content), size, text, row))
        self.content += bytes(size)

    def _fill(self, parts: list[str], budget: int) -> None:
        numbers = [integer(part) for part in parts]
        count, size, value = (*numbers, *(1, 0)[len(numbers) - 1 :])[:3]
        if not 1 <= size <= 8:
            raise UnreadableListing("a filler has 1 to 8 bytes", ", ".join(parts)[:80])
        self._repeat((value % (1 << 8 * size)).to_bytes(size, "little"), count, budget)

    def _repeat(self, unit: bytes, count: int, budget: int) -> None:
        if not 0 <= count * len(unit) <= budget:
            raise UnreadableListing(f"the data are larger than {MAX_BYTES >> 20} MiB", str(count))
        self.content += unit * count

    def _align(self, directive: str, value: int, budget: int) -> None:
        unit = 1 << value if directive == ".p2align" and 0 <= value < 32 else value
        if unit < 1 or unit & (unit - 1) or unit > 65536:
            raise UnreadableListing("this alignment is no power of two up to 64 KiB", str(value))
        self.alignment = max(self.alignment, unit)
        self._repeat(b"\0", -len(self.content) % unit, budget)


def _no_symbol(name: str) -> int:
    raise UndefinedName("", name[:80])


def _float(form: str, text: str) -> bytes:
    try:
        return struct.pack(form, float(text))
    except (ValueError, OverflowError):
        raise UnreadableListing("this is no float", text[:80]) from None


def _string(text: str) -> bytes:
    content = bytearray()
    for escaped, plain in _ESCAPE.findall(text):
        if plain:
            content += plain.encode()
        elif escaped[0] in "01234567":
            content.append(int(escaped, 8) & 255)
        elif escaped[0] == "x" and len(escaped) > 1:
            content.append(int(escaped[1:], 16) & 255)
        elif escaped in _ESCAPED:
            content.append(_ESCAPED[escaped])
        else:
            raise UnreadableListing("this escape in a string is not known", "\\" + escaped)
    return bytes(content)
