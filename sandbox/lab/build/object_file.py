"""Prepares a candidate's object file for linking: gaps behind LDS variables, one dynamic LDS, names of its own."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from sandbox.elf import NOBITS, Elf

GAP_BYTES = 128  # behind each LDS variable, so that one element too far is seen
DYNAMIC_LDS = "ks_dynamic_lds"
OWN = "ks_candidate_"  # before every name the candidate defines
_OURS = frozenset({DYNAMIC_LDS, "ks_ids"})
_TLS_FLAG, _TYPE_TLS, _TYPE_RESOLVER = 0x400, 6, 10


@dataclass(frozen=True)
class PreparedObject:
    """A candidate's object, ready to link, and what it holds."""

    data: bytes
    lds: tuple[str, ...]  # symbols of its static LDS variables
    start_up: bool  # it has code that would run before the lab has given up its rights


def prepare_object(data: bytes) -> PreparedObject:
    """Gaps behind LDS variables, dynamic LDS bound to one symbol, every name it defines out of the runtime's way."""
    elf = Elf(data)
    for section in elf.sections:
        if section.kind == NOBITS and section.flags & _TLS_FLAG and section.size:
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
    return PreparedObject(whole, tuple(variables), _starts_up(elf))


def _starts_up(elf: Elf) -> bool:
    """Constructors, destructors, resolvers: code that runs outside of kernels."""
    early = (".init", ".fini", ".preinit", ".ctors", ".dtors")
    return any(s.name.startswith(early) for s in elf.sections) or any(s.kind == _TYPE_RESOLVER for s in elf.symbols)
