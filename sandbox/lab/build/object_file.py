"""Prepares a candidate's object file for linking: gaps behind LDS variables, one dynamic LDS, names of its own.

Its constants and its variables get sections of their own, so that a pointer into the program's image is theirs or
wrong. The names that it may take from the lab are listed (`entries.py`): what the C library has besides is not there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from sandbox.elf import NOBITS, Elf, Symbol
from sandbox.lab.build.entries import may_be_undefined

GAP_BYTES = 128  # behind each LDS variable, so that one element too far is seen
DYNAMIC_LDS = "ks_dynamic_lds"
OWN = "ks_candidate_"  # before every name the candidate defines
CONSTANTS, VARIABLES, ZEROS = "ks_constants", "ks_variables", "ks_zeros"
_SPANS = {".rodata": CONSTANTS, ".data.rel.ro": CONSTANTS, ".data": VARIABLES, ".bss": ZEROS}
_OURS = frozenset({DYNAMIC_LDS, "ks_ids", "__safestack_unsafe_stack_ptr"})
_TLS_FLAG, _MERGES, _TYPE_TLS, _TYPE_RESOLVER, _TYPE_FILE, _ABSOLUTE = 0x400, 0x30, 6, 10, 4, 0xFF00


@dataclass(frozen=True)
class PreparedObject:
    """A candidate's object, ready to link, and what it holds."""

    data: bytes
    lds: tuple[str, ...]  # symbols of its static LDS variables
    start_up: bool  # it has code that would run before the lab has given up its rights
    foreign: tuple[str, ...]  # names that it takes from the lab, or gives to addresses, and may not


def prepare_object(data: bytes) -> PreparedObject:
    """Gaps behind LDS variables, dynamic LDS bound to one symbol, every name it defines out of the runtime's way."""
    elf = Elf(data)
    for section in elf.sections:
        if section.kind == NOBITS and section.flags & _TLS_FLAG and section.size:
            struct.pack_into("<Q", elf.data, section.at + 32, section.size + GAP_BYTES)
    table = next(s for s in elf.sections if s.name == ".strtab")  # of sections and of symbols
    names = bytearray(_name_sections(elf, table.size))
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
    return PreparedObject(whole, tuple(variables), _starts_up(elf), tuple(sorted(_foreign(elf, target is not None))))


def _name_sections(elf: Elf, size: int) -> bytes:
    """Names for the sections of constants and variables; what is added behind the table of names, of `size` bytes."""
    added, places = b"", dict[str, int]()
    for name in (CONSTANTS, VARIABLES, ZEROS):
        places[name] = size + len(added)
        added += name.encode() + b"\0"
    for section in elf.sections:
        found = next((new for old, new in _SPANS.items() if _is_of(section.name, old)), None)
        if found and not section.flags & _TLS_FLAG:
            struct.pack_into("<I", elf.data, section.at, places[found])
            if section.flags & _MERGES:  # or the linker would mix it with the runtime's
                struct.pack_into("<Q", elf.data, section.at + 8, section.flags & ~_MERGES)
                struct.pack_into("<Q", elf.data, section.at + 56, 0)
    return added


def _is_of(name: str, kind: str) -> bool:
    return name == kind or name.startswith(f"{kind}.")


def _foreign(elf: Elf, has_dynamic: bool) -> set[str]:
    def own(symbol: Symbol) -> bool:
        if symbol.section >= _ABSOLUTE:
            return symbol.kind == _TYPE_FILE
        if symbol.section or not symbol.name:
            return True
        return may_be_undefined(symbol.name) or (symbol.kind == _TYPE_TLS and has_dynamic)

    return {symbol.name for symbol in elf.symbols if not own(symbol)}


def _starts_up(elf: Elf) -> bool:
    """Constructors, destructors, resolvers: code that runs outside of kernels."""
    early = (".init", ".fini", ".preinit", ".ctors", ".dtors")
    return any(s.name.startswith(early) for s in elf.sections) or any(s.kind == _TYPE_RESOLVER for s in elf.symbols)
