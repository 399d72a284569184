"""Sections and symbols of ELF64 files, as images for GPUs are."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, NOBITS = 2, 8


@dataclass(frozen=True)
class Section:
    """One section header and where it stands in the file."""

    name: str
    header_offset: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class Symbol(NamedTuple):  # a program has more than a thousand
    """One symbol; `section` 0 means undefined. The value of a TLS symbol is an offset into the TLS image."""

    name: str
    table_offset: int
    kind: int
    section: int
    value: int
    size: int


class Elf:
    """Sections and symbols of one file."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a little-endian ELF64 file")
        self.data = bytearray(data)
        (start,) = struct.unpack_from("<Q", data, 0x28)
        count, names = struct.unpack_from("<HH", data, 0x3C)
        headers = [(start + 64 * i, *_SECTION.unpack_from(data, start + 64 * i)) for i in range(count)]
        strings = headers[names][5]
        self.sections = [Section(self._text(strings + h[1]), h[0], h[2], h[3], h[4], h[5], h[6], h[7]) for h in headers]
        self.symbols = self._read_symbols()

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(0, offset)].decode("utf-8", errors="replace")

    def _read_symbols(self) -> list[Symbol]:
        symbols = []
        for section in self.sections:
            if section.kind != _SYMTAB:
                continue
            text = bytes(self.data[self.sections[section.link].offset :])
            table = self.data[section.offset : section.offset + section.size // _SYMBOL.size * _SYMBOL.size]
            for number, (name, info, _, index, value, size) in enumerate(_SYMBOL.iter_unpack(table)):
                word = text[name : text.index(0, name)].decode("utf-8", errors="replace")
                symbols.append(Symbol(word, section.offset + number * _SYMBOL.size, info & 15, index, value, size))
        return symbols

    def content(self, name: str) -> bytes:
        """Copy the bytes of the section with this name; empty when there is none."""
        for section in self.sections:
            if section.name == name and section.kind != NOBITS:
                return bytes(self.data[section.offset : section.offset + section.size])
        return b""
