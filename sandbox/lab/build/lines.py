"""From program counters to source lines: a decoder for DWARF 4 line tables, after section 6.2 of the standard.

A program's section holds a unit for each of its files; those of the runtime and the C library are some hundred times as
large as the candidate's and are passed over.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_NO_LINE, _END = 0, -1  # of the file asked for; behind the last instruction of a stretch of code


@dataclass(frozen=True)
class LineTable:
    """Sorted start addresses, and the line of each range: 0 where it belongs to another file, -1 behind the code."""

    addresses: tuple[int, ...]
    lines: tuple[int, ...]

    def line(self, address: int) -> int | None:
        """The line at this address, or None."""
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.lines[at] if at >= 0 and self.lines[at] > _NO_LINE else None

    def line_before(self, address: int, reach: int = 64) -> int | None:
        """The last line at or before this address in the same code, at most `reach` entries of the table back."""
        at = bisect.bisect_right(self.addresses, address)
        if not at or self.lines[at - 1] == _END:
            return None
        return next((line for line in self.lines[max(0, at - reach) : at][::-1] if line > _NO_LINE), None)


class _DwarfReader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def text(self) -> str:
        end = self.data.index(0, self.at)
        value = self.data[self.at : end].decode("utf-8", errors="replace")
        self.at = end + 1
        return value


def read_lines(section: bytes, file_name: str) -> LineTable:
    """The table of one `.debug_line` section: the units that name this file, and in them its lines."""
    rows: list[tuple[int, int]] = []
    at, name = 0, file_name.encode() + b"\0"
    while at + 4 < len(section):
        length, version = struct.unpack_from("<IH", section, at)
        end = at + 4 + length
        if 2 <= version <= 4 and section.find(name, at, end) >= 0:
            rows += _unit(section, at, end, file_name)
        at = end
    rows.sort(key=lambda row: row[0])
    return LineTable(tuple(r[0] for r in rows), tuple(r[1] for r in rows))


def _unit(data: bytes, start: int, end: int, file_name: str) -> Iterator[tuple[int, int]]:
    head = _DwarfReader(data, start + 4)
    version, header_length = head.take("H"), head.take("I")
    program = head.at + header_length
    minimum = head.take("B")
    if version >= 4:
        head.take("B")
    head.take("B")
    base, span, first_special = head.take("b"), head.take("B"), head.take("B")
    operands = [head.take("B") for _ in range(first_special - 1)]
    while head.data[head.at]:
        head.text()
    head.at += 1
    files: dict[int, str] = {}
    while head.data[head.at]:
        files[len(files) + 1] = head.text()
        for _ in range(3):
            head.unsigned()
    wanted = {number for number, name in files.items() if name.rpartition("/")[2] == file_name}
    yield from _program(_DwarfReader(data, program), end, wanted, minimum, base, span, first_special, operands)


def _program(
    r: _DwarfReader, end: int, wanted: set[int], minimum: int, base: int, span: int, first: int, operands: list[int]
) -> Iterator[tuple[int, int]]:
    address, file, line = 0, 1, 1
    while r.at < end:
        code = r.take("B")
        if code >= first:
            address += (code - first) // span * minimum
            line += base + (code - first) % span
            yield address, line if file in wanted else _NO_LINE
        elif code == 0:
            length = r.unsigned()
            after = r.at + length
            kind = r.take("B")
            if kind == 1:
                yield address, _END
                address, file, line = 0, 1, 1
            elif kind == 2:
                address = r.take("Q")
            r.at = after
        elif code == 1:
            yield address, line if file in wanted else _NO_LINE
        elif code == 2:
            address += r.unsigned() * minimum
        elif code == 3:
            line += r.signed()
        elif code == 4:
            file = r.unsigned()
        elif code == 8:
            address += (255 - first) // span * minimum
        elif code == 9:
            address += r.take("H")
        else:
            for _ in range(operands[code - 1]):
                r.unsigned()
