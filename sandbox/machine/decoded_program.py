"""A listing as a program: decoded instructions with their places, kernels, data, and the image of all of it."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sandbox.amdgcn.listing import read_metadata
from sandbox.machine.data_sections import DataSection
from sandbox.machine.image_layout import (
    CODE_BASE,
    CODE_STRIDE,
    DATA_BASE,
    HEADER,
    MAGIC,
    NAME_BYTES,
    SECTION,
    TARGET_OFFSET,
)
from sandbox.machine.instruction_decoder import DecodedInstruction, decode_instruction
from sandbox.machine.kernel_descriptor import DecodedKernel, read_kernel
from sandbox.machine.listing_reader import ListedInstruction, ReadListing, read_listing
from sandbox.machine.operands import register
from sandbox.machine.places import Place
from sandbox.machine.symbols import SymbolTable
from sandbox.machine.unreadable import UnreadableListing

_TARGET = TARGET_OFFSET - 4  # in a body, which begins behind the number of the semantics
NOWHERE: Place = ("", 0)
_INDEX = struct.Struct("<I")


@dataclass(frozen=True)
class DecodedProgram:
    """A whole listing, decoded. Instruction i has the guest address CODE_BASE + 8 i."""

    instructions: tuple[DecodedInstruction, ...]
    rows: tuple[int, ...]  # of the listing, from 1, one an instruction
    chains: tuple[tuple[Place, ...], ...]  # files and lines, the innermost first, one an instruction
    targets: Mapping[int, int]  # of branches: instruction to instruction
    kernels: Mapping[str, DecodedKernel]  # by symbol, in the order of the image
    sections: tuple[tuple[str, int, int, bool], ...]  # name, offset, bytes, is writable
    data: bytes
    symbols: Mapping[str, int]  # guest addresses of labels, values of others
    semantics: tuple[str, ...]  # names in the order of the image

    def image(self) -> bytes:
        """Pack the program's bytes, as interpreter/program.h says."""
        room = io.BytesIO()
        self.write_image(room)
        return room.getvalue()

    def write_image(self, target: Path | BinaryIO) -> None:
        """Write the image to a file of this path, or into an open one."""
        if isinstance(target, Path):
            with target.open("wb") as file:
                self.write_image(file)
            return
        data = self.data + bytes(-len(self.data) % 8)
        counts = len(self.semantics), len(self.kernels), len(self.sections), len(data), len(self.instructions)
        target.write(HEADER.pack(MAGIC, *counts))
        target.write(b"".join(name.encode().ljust(NAME_BYTES, b"\0") for name in self.semantics))
        target.write(b"".join(kernel.packed() for kernel in self.kernels.values()))
        target.write(b"".join(SECTION.pack(start, size, writable) for _, start, size, writable in self.sections))
        target.write(data)
        numbers = {name: _INDEX.pack(number) for number, name in enumerate(self.semantics)}
        parts: list[bytes] = []
        for index, instruction in enumerate(self.instructions):
            body = instruction.body
            if index in self.targets:
                body = body[:_TARGET] + _INDEX.pack(self.targets[index]) + body[_TARGET + 4 :]
            parts += (numbers[instruction.row.semantics], body)
        target.write(b"".join(parts))


def decode_listing(text: str) -> DecodedProgram:
    """Decode a listing for gfx942; UnreadableListing names what is not known, with its line and its place."""
    listing = read_listing(text)
    table = SymbolTable(listing)
    sections = table.lay_out()
    instructions, targets = [], {}
    for index, listed in enumerate(listing.instructions):
        try:
            decoded = _instruction(listed, index, table)
            if decoded.label:
                targets[index] = table.instruction(decoded.label)
        except UnreadableListing as refused:
            raise refused.placed(listed.row, listed.text[:200], listed.chain[0] if listed.chain else ("", 0)) from None
        instructions.append(decoded)
    names = [*dict.fromkeys(instruction.row.semantics for instruction in instructions)]
    return DecodedProgram(
        tuple(instructions),
        tuple(listed.row for listed in listing.instructions),
        tuple(listed.chain for listed in listing.instructions),
        targets,
        _kernels(listing, table),
        tuple((s.name, s.start, len(s.content), s.is_writable) for s in sections),
        _data(sections, table),
        {name: table.value(name) for name in (*listing.labels, *listing.data_labels)},
        tuple(names),
    )


def _instruction(listed: ListedInstruction, index: int, table: SymbolTable) -> DecodedInstruction:
    text = listed.text
    if "@" not in text:
        try:
            decoded = decode_instruction(text)
        except UnreadableListing as refused:
            return _with_symbols(text, table, refused)
        if decoded.row.name == "s_getpc_b64" and (destination := register(decoded.operands[0])):
            counter = CODE_BASE + CODE_STRIDE * (index + 1)
            table.program_counters |= {destination[1]: counter, destination[1] + 1: counter}
        return decoded
    return _with_symbols(text, table, None)


def _with_symbols(text: str, table: SymbolTable, refused: UnreadableListing | None) -> DecodedInstruction:
    """Decode again with numbers in place of symbols; where there are none, what was refused stays refused."""
    mnemonic, _, operand_text = text.partition(" ")
    words = tuple(operand_text.split(", "))
    numbers = table.resolved(words)
    if tuple(numbers) == words:
        raise refused or UnreadableListing("this operand is not known", operand_text[:80])
    return decode_instruction(f"{mnemonic} {', '.join(numbers)}")


def _kernels(listing: ReadListing, table: SymbolTable) -> dict[str, DecodedKernel]:
    entries: dict[str, dict[str, Any]] = {}
    metadata = read_metadata(listing.metadata).get("amdhsa.kernels") if listing.metadata else None
    for entry in metadata if isinstance(metadata, list) else ():
        if isinstance(entry, dict):
            entries[str(entry.get(".name", ""))] = entry
    return {
        symbol: read_kernel(symbol, table.instruction(symbol), directives, entries.get(symbol, {}), table.value)
        for symbol, directives in listing.kernels.items()
    }


def _data(sections: list[DataSection], table: SymbolTable) -> bytes:
    room = bytearray()
    for section in sections:
        room += bytes(section.start - len(room))
        section.resolve(table.datum, DATA_BASE)
        room += section.content
    return bytes(room)
