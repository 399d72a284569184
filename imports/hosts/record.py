"""The record of one execution of a host half: its buffers, and what it does with them, in order."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from imports.hosts.stub_parameters import Field, StubParameters

OF_HOST = ("host", "registered", "managed")  # kinds of memory that the host reads and writes without copies
FORMATS = {"float": "<f", "double": "<d", "i1": "<B", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "ptr": "<Q"}


@dataclass(frozen=True)
class BytePlace:
    """A place in a buffer, in bytes; the null pointer without a buffer."""

    buffer: int | None
    offset: int = 0


@dataclass(frozen=True)
class Handed:
    """One number or pointer of an argument."""

    type: str  # of the listing
    value: int | float | BytePlace


@dataclass(frozen=True)
class HostCall:
    """One call that matters: launch, fill, copy, upload, download or symbol."""

    kind: str
    kernel: str = ""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    lds: int = 0
    arguments: tuple[tuple[Handed, ...], ...] = ()
    position: BytePlace = BytePlace(None)  # that is written, or read by a download
    source: BytePlace = BytePlace(None)
    size: int = 0  # bytes
    number: int = 0  # that fills
    width: int = 1  # bytes of it
    data: str = ""  # that a symbol gets, hexadecimal


@dataclass
class Block:
    """Memory that the host half takes."""

    number: int
    size: int
    kind: str
    words: str
    address: int
    host: str = ""  # the name of the host's array that its values come from
    is_open: bool = True
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # least and largest value by type


@dataclass(frozen=True)
class HostTrace:
    """All of one execution; blocks that stand for each other in turn are one."""

    blocks: Mapping[int, Block]
    events: tuple[HostCall, ...]
    kernels: Mapping[str, str]  # names with their parameters' types, by symbol
    is_cut: bool  # it launches more than is noted
    trouble: str = ""  # why no plan can follow from it

    @property
    def launches(self) -> list[HostCall]:
        """The launches, in order."""
        return [e for e in self.events if e.kind == "launch"]


class _Reader:
    def __init__(self, parameters: Mapping[str, StubParameters]) -> None:
        self.parameters = parameters
        self.blocks: dict[int, Block] = {}
        self.same: dict[int, int] = {}  # a block that stands for one that was given back
        self.events: list[HostCall] = []
        self.kernels: dict[str, str] = {}
        self.trouble, self.is_cut = "", False

    def line(self, line: str) -> None:
        head, _, tail = line.partition(" ")
        method = getattr(self, f"read_{head}", None)
        if method is not None:
            method(tail)

    def read_kernel(self, tail: str) -> None:
        symbol, _, name = tail.partition(" ")
        self.kernels[symbol] = name

    def read_block(self, tail: str) -> None:
        number, address, size, kind, words = (*tail.split(" ", 4), "")[:5]
        block = Block(int(number), int(size), kind, words, int(address))
        earlier = next(
            (
                b
                for b in self.blocks.values()
                if not b.is_open and (b.words, b.size, b.kind) == (block.words, block.size, block.kind)
            ),
            None,
        )
        if earlier is not None and words:
            earlier.is_open, earlier.address = True, block.address
            self.same[block.number] = earlier.number
        else:
            self.blocks[block.number] = block

    def block(self, number: str | int) -> int | None:
        value = int(number)
        return None if value < 0 else self.same.get(value, value)

    def read_free(self, tail: str) -> None:
        number = self.block(tail)
        if number in self.blocks:
            self.blocks[number].is_open = False

    def read_values(self, tail: str) -> None:
        number, *words = tail.split()
        block = self.blocks.get(self.block(number) or 0)
        if block is not None and not block.ranges:
            block.ranges.update(
                {words[i]: (float(words[i + 1]), float(words[i + 2])) for i in range(0, len(words) - 2, 3)}
            )

    def read_copy(self, tail: str) -> None:
        to, to_offset, source, offset, size, words = tail.split(" ", 5)
        words = words.partition(" | ")[2]
        target, origin = self.block(to), self.block(source)
        position, start = BytePlace(target, int(to_offset)), BytePlace(origin, int(offset))
        if self._is_device(target) and self._is_device(origin):
            self.events.append(HostCall("copy", position=position, source=start, size=int(size)))
        elif self._is_device(target):
            assert target is not None
            self.blocks[target].host = self.blocks[target].host or words
            self.events.append(HostCall("upload", position=position, size=int(size)))
        elif self._is_device(origin):
            self.events.append(HostCall("download", position=start, size=int(size)))

    def _is_device(self, number: int | None) -> bool:
        return number is not None and self.blocks[number].kind not in ("host", "registered")

    def read_fill(self, tail: str) -> None:
        number, offset, size, width, value = tail.split()
        position = BytePlace(self.block(number), int(offset))
        self.events.append(HostCall("fill", position=position, size=int(size), width=int(width), number=int(value)))

    def read_symbol(self, tail: str) -> None:
        name, offset, size, source, source_offset, *data = tail.split()
        start = BytePlace(self.block(source), int(source_offset))
        if int(offset):
            self.trouble = self.trouble or f"it writes only a part of the device variable {name}"
        self.events.append(HostCall("symbol", kernel=name, source=start, size=int(size), data=data[0] if data else ""))

    def read_fromsymbol(self, tail: str) -> None:
        self.trouble = self.trouble or f"it reads the device variable {tail.split()[0]} back, which no tensor is"

    def read_cut(self, _: str) -> None:
        self.is_cut = True

    def read_memory(self, tail: str) -> None:
        self.trouble = f"it asks for {int(tail) / (1 << 30):.0f} GiB of memory at once"

    def read_unknown(self, _: str) -> None:
        self.trouble = self.trouble or "it launches a kernel that is not in the file"

    def read_library(self, tail: str) -> None:
        self.trouble = self.trouble or f"it calls {tail.split()[0]}, of a library"

    def read_launch(self, tail: str) -> None:
        words = tail.split()
        symbol, numbers, data = words[0], [int(w) for w in words[1:8]], words[8:]
        parameters = self.parameters.get(symbol)
        if parameters is None or len(data) != len(parameters.sizes):
            self.trouble = self.trouble or f"the parameters of {self.kernels.get(symbol, symbol)} are not understood"
            return
        arguments = tuple(
            tuple(self._handed(bytes.fromhex(text), f) for f in fields)
            for text, fields in zip(data, parameters.fields, strict=True)
        )
        self.events.append(HostCall("launch", symbol, tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6], arguments))

    def _handed(self, data: bytes, part: Field) -> Handed:
        size = {"half": 2, "bfloat": 2, "i128": 16}.get(part.type) or struct.calcsize(FORMATS.get(part.type, "<Q"))
        piece = data[part.offset : part.offset + size]
        if part.type in ("half", "bfloat"):
            raw = struct.unpack("<H", piece)[0]
            value = (
                struct.unpack("<e", piece)[0]
                if part.type == "half"
                else struct.unpack("<f", struct.pack("<I", raw << 16))[0]
            )
            return Handed(part.type, value)
        value = struct.unpack(FORMATS.get(part.type, "<Q"), piece)[0]
        return Handed(part.type, self.position(value) if part.type == "ptr" else value)

    def position(self, address: int) -> BytePlace:
        """Find the buffer that an address lies in."""
        if not address:
            return BytePlace(None)
        for block in self.blocks.values():
            if block.address <= address < block.address + max(block.size, 1) + 4096:
                return BytePlace(block.number, address - block.address)
        self.trouble = self.trouble or "a kernel is handed memory of the host, or an address that no allocation gave"
        return BytePlace(None)


def read_record(lines: Sequence[str], parameters: Mapping[str, StubParameters]) -> HostTrace:
    """Read the lines of a record; one that a killed program left unfinished is left out."""
    reader = _Reader(parameters)
    for line in lines:
        try:
            reader.line(line)
        except (ValueError, KeyError, struct.error):
            if line is not lines[-1]:
                raise
    return HostTrace(reader.blocks, tuple(reader.events), reader.kernels, reader.is_cut, reader.trouble)


def name_of(words: str) -> str:
    """Take the variable's name out of the words of a call: `(void**)&d_x` gives `d_x`, `x.data()` gives `x`."""
    plain = re.sub(r"\(\s*(?:const\s+)?\w+\s*\*+\s*\)|reinterpret_cast<[^>]*>|static_cast<[^>]*>", "", words)
    match = re.search(r"[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*", plain.replace("std::", ""))
    if match is None:
        return ""
    parts = [p for p in re.split(r"\.|->", match[0]) if p not in ("data", "begin", "get", "this")]
    return parts[-1] if parts else ""
