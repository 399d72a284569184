"""Compiled device code as it describes itself: kernels, parameters, variables of cubins and AMD code objects.

A cubin describes a kernel in `.nv.info.KERNEL`, a list of attributes (numbers as `cuobjdump -elf` names them); a code
object in a note of MessagePack. Parameters of a cubin have sizes but no types.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.candidate.kernel import most_workgroups, source_name_of
from sandbox.elf import Elf, Section

_REGISTERS, _FRAME, _PARAMETER, _THREADS = 0x2F, 0x11, 0x17, 0x05  # EIATTR_REGCOUNT, FRAME_SIZE, KPARAM_INFO, ...
_RESERVED_SHARED = 1024  # of each block, for the system, counted in the section's size since Ampere
_VARIABLES = (".nv.global", ".nv.global.init", ".nv.constant3")
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_NOTE, _OBJECT, _AMD_METADATA = 7, 1, 32
_COMPILER_OWN = "__hip_cuid_"  # the compiler's mark of the file
_BUFFERS = ("global_buffer", "dynamic_shared_pointer")


@dataclass(frozen=True)
class ImageKernel:
    """One kernel of an image."""

    name: str  # as written in the source, without parameters
    symbol: str  # as in the image, possibly mangled
    parameter_bytes: tuple[int, ...]
    registers: int  # of a thread; vector registers on AMD
    shared_bytes: int  # static
    local_bytes: int  # of a thread
    max_threads: int  # it was compiled for; 0 when the image does not state it
    buffers: tuple[bool, ...] | None = None  # which parameters are pointers; None when the image does not state it
    max_grid: tuple[int, int, int] = (0, 0, 0)  # see `KernelMetadata`


@dataclass(frozen=True)
class DeviceImage:
    """Everything an image states. Variables keep their contents from launch to launch, constants too."""

    kernels: tuple[ImageKernel, ...]
    globals: tuple[tuple[str, int], ...]  # symbol and bytes
    hidden_bytes: int  # of variables that the driver cannot find by name: only a new load resets them


def read_image(image: bytes) -> DeviceImage:
    """Read kernels and variables of a cubin, a code object or a bundle with one; ValueError when it is none."""
    try:
        elf = Elf(unbundle(image))
        if any(section.name.startswith(".nv.info") for section in elf.sections):
            return _read_cubin(elf)
        return _read_code_object(elf)
    except (struct.error, IndexError, KeyError, TypeError, AttributeError, StopIteration, RecursionError) as error:
        raise ValueError(f"a damaged image ({error})") from None


def unbundle(image: bytes) -> bytes:
    """Cut the device's part out of a clang offload bundle; return anything else as it is."""
    if not image.startswith(_BUNDLE):
        return image
    position = len(_BUNDLE) + 8
    for _ in range(struct.unpack_from("<Q", image, len(_BUNDLE))[0]):
        offset, size, length = struct.unpack_from("<QQQ", image, position)
        name = image[position + 24 : position + 24 + length]
        position += 24 + length
        if size and b"amdgcn" in name:
            return image[offset : offset + size]
    raise ValueError("an offload bundle without device code")


def _bytes_of(elf: Elf, section: Section) -> bytes:
    return bytes(elf.data[section.offset : section.offset + section.size])


def _read_cubin(elf: Elf) -> DeviceImage:
    sizes = {s.name: s.size for s in elf.sections}
    common: dict[int, dict[int, int]] = {}  # from the common list, by symbol number
    for attribute, payload in _attributes(elf.content(".nv.info")):
        if len(payload) == 8:
            symbol, value = struct.unpack("<II", payload)
            common.setdefault(symbol, {})[attribute] = value
    numbers = {symbol.name: index for index, symbol in enumerate(elf.symbols) if symbol.name}
    kernels = []
    for section in elf.sections:
        symbol = section.name.removeprefix(".nv.info.")
        if symbol == section.name or f".nv.constant0.{symbol}" not in sizes:
            continue
        facts, parameters, threads = common.get(numbers[symbol], {}), dict[int, int](), 0
        for attribute, payload in _attributes(_bytes_of(elf, section)):
            if attribute == _PARAMETER:
                _, ordinal, _, flags = struct.unpack("<IHHI", payload)
                parameters[ordinal] = flags >> 18
            elif attribute == _THREADS:
                x, y, z = struct.unpack("<III", payload)
                threads = x * y * z
        shared = sizes.get(f".nv.shared.{symbol}", 0)
        if ".nv.shared.reserved.0" in sizes:
            shared = max(0, shared - _RESERVED_SHARED)
        kernels.append(
            ImageKernel(
                source_name_of(symbol),
                symbol,
                tuple(parameters[i] for i in sorted(parameters)),
                facts.get(_REGISTERS, 0),
                shared,
                facts.get(_FRAME, 0),
                threads,
            )
        )
    variable_sections = {i for i, s in enumerate(elf.sections) if s.name in _VARIABLES}
    variables = {s.name: s.size for s in elf.symbols if s.kind == _OBJECT and s.section in variable_sections and s.size}
    return DeviceImage(tuple(kernels), tuple(sorted(variables.items())), 0)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and payload of each attribute; form 4 has its size in front, the others hold two bytes."""
    position = 0
    while position + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, position)
        size = value if form == 4 else 0
        yield attribute, data[position + 4 : position + 4 + size] if form == 4 else data[position + 2 : position + 4]
        position += 4 + size


def _read_code_object(elf: Elf) -> DeviceImage:
    table = read_message(_amd_note(elf))
    kernels = tuple(_amd_kernel(entry) for entry in table.get("amdhsa.kernels", ()))
    descriptors = {f"{k.symbol}.kd" for k in kernels}
    names = {i: s.name for i, s in enumerate(elf.sections)}
    exported = set(elf.content(".dynstr").split(b"\0"))
    variables, hidden = dict[str, int](), 0
    for symbol in elf.symbols:
        section_name = names.get(symbol.section, "")
        if (
            symbol.kind != _OBJECT
            or not symbol.size
            or not section_name.startswith((".data", ".bss", ".rodata"))
            or symbol.name in descriptors
            or symbol.name.startswith(_COMPILER_OWN)
        ):
            continue
        if symbol.name.encode() in exported:
            variables[symbol.name] = symbol.size
        else:
            hidden += symbol.size
    return DeviceImage(kernels, tuple(sorted(variables.items())), hidden)


def _amd_note(elf: Elf) -> bytes:
    for section in elf.sections:
        data, position = _bytes_of(elf, section) if section.kind == _NOTE else b"", 0
        while position + 12 <= len(data):
            name_size, size, kind = struct.unpack_from("<III", data, position)
            start = position + 12 + -(-name_size // 4) * 4
            if kind == _AMD_METADATA and data[position + 12 : position + 12 + name_size].rstrip(b"\0") == b"AMDGPU":
                return data[start : start + size]
            position = start + -(-size // 4) * 4
    raise ValueError("an ELF file without device code")


def _amd_kernel(entry: Mapping[str, Any]) -> ImageKernel:
    symbol = str(entry[".name"])
    arguments = [a for a in entry.get(".args") or () if not str(a[".value_kind"]).startswith("hidden_")]
    return ImageKernel(
        source_name_of(symbol),
        symbol,
        tuple(a[".size"] for a in arguments),
        entry[".vgpr_count"],
        entry[".group_segment_fixed_size"],
        entry[".private_segment_fixed_size"],
        entry.get(".max_flat_workgroup_size", 0),
        tuple(a[".value_kind"] in _BUFFERS for a in arguments),
        most_workgroups(entry),
    )


def read_message(data: bytes) -> Any:
    """Read a MessagePack text: maps, arrays, texts, integers, truth values and nothing."""
    return _value(data, 0)[0]


def _value(data: bytes, position: int) -> tuple[Any, int]:
    kind = data[position]
    position += 1
    if kind <= 0x7F or kind >= 0xE0:
        return kind if kind <= 0x7F else kind - 256, position
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], position
    if 0xCC <= kind <= 0xD3:
        size = 1 << (kind & 3)
        return int.from_bytes(data[position : position + size], "big", signed=kind >= 0xD0), position + size
    if kind <= 0xBF:
        count = kind & (0x1F if kind >= 0xA0 else 0x0F)
        group = "text" if kind >= 0xA0 else "list" if kind >= 0x90 else "map"
    else:
        group, width = {
            0xC4: ("raw", 1),
            0xC5: ("raw", 2),
            0xC6: ("raw", 4),
            0xD9: ("text", 1),
            0xDA: ("text", 2),
            0xDB: ("text", 4),
            0xDC: ("list", 2),
            0xDD: ("list", 4),
            0xDE: ("map", 2),
            0xDF: ("map", 4),
        }[kind]
        count, position = int.from_bytes(data[position : position + width], "big"), position + width
    if group in ("text", "raw"):
        raw = data[position : position + count]
        return (raw.decode(errors="replace") if group == "text" else raw), position + count
    values = []
    for _ in range(count * (2 if group == "map" else 1)):
        value, position = _value(data, position)
        values.append(value)
    return (dict(zip(values[::2], values[1::2], strict=True)) if group == "map" else values), position
