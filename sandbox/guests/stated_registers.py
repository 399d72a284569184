"""Kernel descriptors of a listing, and what in hand-written ones contradicts the code or the metadata.

The hardware believes the descriptor, the driver the metadata, and the assembler compares neither with the code. A
compiler's listing needs no such check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from records.evaluation import Finding
from sandbox.amdgcn.listing_rows import walk
from sandbox.candidate.diagnostics import refusal
from sandbox.guests.assembly_text import SOURCE

Descriptor = Mapping[str, int]
_KERNEL = re.compile(r"^\t\.amdhsa_kernel (\S+)\n(.*?)^\t\.end_amdhsa_kernel", re.S | re.M)
_FIELD = re.compile(r"^\t\t\.amdhsa_(\w+) (-?\d+)$", re.M)
_REGISTER = re.compile(r"\b([vas])(?:(\d{1,4})\b|\[(\d{1,4})(?::(\d{1,4}))?\])")
_SAME = {  # of the descriptor, and of the metadata
    "kernarg_size": ".kernarg_segment_size",
    "group_segment_fixed_size": ".group_segment_fixed_size",
    "private_segment_fixed_size": ".private_segment_fixed_size",
}
_NEEDED = (*_SAME.values(), ".vgpr_count", ".sgpr_count", ".max_flat_workgroup_size")
_VECTOR_UNIT, _SCALAR_UNIT, _SPECIAL = 8, 16, 6  # registers that are given out together; VCC, flat scratch, XNACK
_WAVE = 64


def descriptors_in(listing: str) -> dict[str, Descriptor]:
    """Read the numbers of every kernel descriptor, by the kernel's symbol."""
    return {name: {n: int(v) for n, v in _FIELD.findall(body)} for name, body in _KERNEL.findall(listing)}


def contradictions(listing: str, descriptors: Mapping[str, Descriptor], table: Mapping[str, Any]) -> Iterator[Finding]:
    """Find what contradicts itself in descriptors, metadata and registers of a hand-written file's listing."""
    rows = table.get("amdhsa.kernels") or []
    entries = {str(row.get(".name")): row for row in rows if isinstance(row, dict)}
    for name in sorted(descriptors.keys() ^ entries.keys()):
        has = "a descriptor (.amdhsa_kernel) and no entry in .amdgpu_metadata"
        lacks = "an entry in .amdgpu_metadata and no descriptor (.amdhsa_kernel)"
        yield refusal(f"the kernel {name} has {has if name in descriptors else lacks}; a kernel needs both")
    for name, descriptor in descriptors.items():
        if name in entries:
            yield from _entry(name, descriptor, entries[name])
    yield from _registers(listing, descriptors)


def _entry(name: str, descriptor: Descriptor, entry: Mapping[str, Any]) -> Iterator[Finding]:
    for key in _NEEDED:
        value = entry.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            yield refusal(f"the metadata of {name} needs {key}, a whole number")
            return
    for field, key in _SAME.items():
        if descriptor.get(field, 0) != entry[key]:
            yield refusal(
                f"{name}: the descriptor says .amdhsa_{field} {descriptor.get(field, 0)} and the metadata {key} "
                f"{entry[key]}; they must be the same"
            )
    if entry.get(".wavefront_size", _WAVE) != _WAVE:
        yield refusal(f"the metadata of {name} says waves of {entry['.wavefront_size']}; gfx942 has waves of {_WAVE}")


def _registers(listing: str, descriptors: Mapping[str, Descriptor]) -> Iterator[Finding]:
    """Report the first use of a register of each kind that a kernel's descriptor does not ask for."""
    reported = set[tuple[str, str]]()
    for function, line, label, mnemonic, operands in walk(listing, SOURCE):
        if label or function not in descriptors:
            continue
        most = limits_of(descriptors[function])
        for kind, single, first, last in _REGISTER.findall(operands):
            number = int(last or first or single)
            if number < most[kind] or (function, kind) in reported or mnemonic.startswith(("s_setreg", "s_getreg")):
                continue
            reported.add((function, kind))
            field = ".amdhsa_next_free_sgpr" if kind == "s" else ".amdhsa_next_free_vgpr or .amdhsa_accum_offset"
            yield refusal(
                f"{mnemonic} uses {kind}{number}, but {function} has {most[kind]} such registers by its descriptor; "
                f"raise {field}",
                line or None,
            )


def limits_of(descriptor: Descriptor) -> dict[str, int]:
    """Count the registers that a kernel has of each kind: v, a and s."""
    vector = _up(max(1, descriptor.get("next_free_vgpr", 0)), _VECTOR_UNIT)
    offset = descriptor.get("accum_offset", vector)
    scalar = _up(descriptor.get("next_free_sgpr", 0) + _SPECIAL, _SCALAR_UNIT)
    return {"v": min(vector, offset), "a": max(0, vector - offset), "s": min(scalar, 102)}


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
