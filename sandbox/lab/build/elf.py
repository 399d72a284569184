"""Reads ELF64 files, and prepares a candidate's object for linking: gaps behind LDS variables, one dynamic LDS."""

from __future__ import annotations

import struct
from dataclasses import dataclass

GAP_BYTES = 128  # behind each LDS variable, so that one element too far is seen
DYNAMIC_LDS = "ks_dynamic_lds"
OWN = "ks_candidate_"  # before every name the candidate defines
_OURS = frozenset({DYNAMIC_LDS, "ks_ids"})
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _NOBITS, _TLS_FLAG, _TYPE_TLS, _TYPE_RESOLVER = 2, 8, 0x400, 6, 10


@dataclass(frozen=True)
class Section:
    """One section header and where it stands in the file."""

    name: str
    at: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Symbol:
    """One symbol; `section` 0 means undefined. The value of a TLS symbol is an offset into the TLS image."""

    name: str
    at: int
    kind: int
    section: int
    value: int
    size: int


class Elf:
    """Sections and symbols of one file; `data` may be edited in place."""

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

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(0, at)].decode("utf-8", errors="replace")

    def _read_symbols(self) -> list[Symbol]:
        found = []
        for section in self.sections:
            if section.kind != _SYMTAB:
                continue
            strings = self.sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, _SYMBOL.size):
                name, info, _, index, value, size = _SYMBOL.unpack_from(self.data, at)
                found.append(Symbol(self._text(strings + name), at, info & 15, index, value, size))
        return found

    def content(self, name: str) -> bytes:
        """The bytes of the section with this name; empty when there is none."""
        for section in self.sections:
            if section.name == name and section.kind != _NOBITS:
                return bytes(self.data[section.offset : section.offset + section.size])
        return b""

    def tls_segment(self) -> tuple[int, int]:
        """Size in memory and alignment of the thread-local image; zeros when there is none."""
        (start,) = struct.unpack_from("<Q", self.data, 0x20)
        size, count = struct.unpack_from("<HH", self.data, 0x36)
        for at in range(start, start + size * count, size):
            if struct.unpack_from("<I", self.data, at)[0] == 7:
                memory, align = struct.unpack_from("<QQ", self.data, at + 40)
                return memory, align
        return 0, 1

    def image(self) -> tuple[int, int]:
        """The lowest and the highest address that is loaded."""
        (start,) = struct.unpack_from("<Q", self.data, 0x20)
        size, count = struct.unpack_from("<HH", self.data, 0x36)
        spans = []
        for at in range(start, start + size * count, size):
            if struct.unpack_from("<I", self.data, at)[0] == 1:
                (address,) = struct.unpack_from("<Q", self.data, at + 16)
                (memory,) = struct.unpack_from("<Q", self.data, at + 40)
                spans.append((address, address + memory))
        return min(s[0] for s in spans), max(s[1] for s in spans)


@dataclass(frozen=True)
class Prepared:
    """A candidate's object, ready to link, and what it holds."""

    data: bytes
    lds: tuple[str, ...]  # symbols of its static LDS variables
    start_up: bool  # it has code that would run before the lab has given up its rights


def prepare_object(data: bytes) -> Prepared:
    """Gaps behind LDS variables, dynamic LDS bound to one symbol, every name it defines out of the runtime's way."""
    elf = Elf(data)
    for section in elf.sections:
        if section.kind == _NOBITS and section.flags & _TLS_FLAG and section.size:
            struct.pack_into("<Q", elf.data, section.at + 32, section.size + GAP_BYTES)
    names = bytearray()
    table = next(s for s in elf.sections if s.name == ".strtab")
    target = next((s for s in elf.symbols if s.name == DYNAMIC_LDS), None)
    variables = []
    for symbol in elf.symbols:
        if symbol.kind == _TYPE_TLS and symbol.name not in _OURS and not symbol.section and target is not None:
            elf.data[symbol.at : symbol.at + 4] = elf.data[target.at : target.at + 4]  # its name
        elif symbol.section and symbol.name and symbol.section < 0xFF00 and not symbol.name.startswith("ks_launch_"):
            struct.pack_into("<I", elf.data, symbol.at, table.size + len(names))
            name = f"{OWN}{symbol.name}"
            names += name.encode() + b"\0"
            if symbol.kind == _TYPE_TLS:
                variables.append(name)
    struct.pack_into("<QQ", elf.data, table.at + 24, len(elf.data), table.size + len(names))
    whole = bytes(elf.data) + data[table.offset : table.offset + table.size] + bytes(names)
    return Prepared(whole, tuple(variables), _starts_up(elf))


def _starts_up(elf: Elf) -> bool:
    """Constructors, destructors, resolvers: code that runs outside of kernels."""
    early = (".init", ".fini", ".preinit", ".ctors", ".dtors")
    return any(s.name.startswith(early) for s in elf.sections) or any(s.kind == _TYPE_RESOLVER for s in elf.symbols)
