"""A kernel's arguments as it reads them: the kernarg segment, laid out by the code's own metadata.

Explicit arguments come from the launch, in order. Hidden ones, which compilers add behind them, are filled as HIP's
runtime does (LLVM, "User Guide for AMDGPU Backend", code object V5 metadata): counts and sizes of the launch, whole
workgroups only, three dimensions; services of a host, such as buffers of `printf`, are null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from records.computed_once import computed_once
from records.errors import PlanError
from sandbox.candidate.arguments import BufferArg, NullArg, ResolvedArg, ScalarArg, StructArg
from sandbox.candidate.kernel import KernelArgument
from sandbox.candidate.limits import mismatches
from sandbox.candidate.resolve import ResolvedLaunch
from tasks.dtypes import stored

MAX_BYTES = 1 << 16  # of one segment
MAX_FIELDS = 1024
HIDDEN = "hidden_"
POINTER, VALUE = "global_buffer", "by_value"
_GRID_DIMS = 3  # what HIP's runtime says, whatever the extents are


@dataclass(frozen=True)
class KernargField:
    """One argument of a kernel's metadata: its `.value_kind`, and its bytes in the segment."""

    kind: str
    offset: int
    size: int

    @property
    def is_hidden(self) -> bool:
        """True where the compiler added it and the runtime fills it."""
        return self.kind.startswith(HIDDEN)


@dataclass(frozen=True)
class KernargLayout:
    """The segment of one kernel; `nulls` pointers behind the explicit arguments are of no launch's, and null."""

    kernel: str
    size_bytes: int
    fields: tuple[KernargField, ...]
    nulls: int = 0

    @computed_once
    def explicit(self) -> tuple[KernelArgument, ...]:
        """Select the arguments that a launch passes, in order."""
        visible = [field for field in self.fields if not field.is_hidden]
        passed = visible[: len(visible) - self.nulls]
        return tuple(KernelArgument(field.kind == POINTER, field.offset, field.size) for field in passed)

    @computed_once
    def hidden(self) -> tuple[KernargField, ...]:
        """Select the arguments that the runtime fills."""
        return tuple(field for field in self.fields if field.is_hidden)


def layout_of(entry: Mapping[str, Any], *, nulls: int = 0) -> KernargLayout:
    """Read the layout that an entry of `amdhsa.kernels` states; PlanError where it contradicts itself.

    The metadata of hand-written assembly is its author's: nothing in it is believed unseen.
    """
    kernel = str(entry.get(".name", ""))
    size = entry.get(".kernarg_segment_size")
    rows = entry.get(".args") or ()
    if not _is_count(size, MAX_BYTES):
        raise PlanError(f"the metadata of {kernel} needs .kernarg_segment_size, a number of bytes up to {MAX_BYTES}")
    if not isinstance(rows, (list, tuple)) or len(rows) > MAX_FIELDS:
        raise PlanError(f"the metadata of {kernel} needs .args, a list of at most {MAX_FIELDS} arguments")
    fields = tuple(_field(kernel, number, row, size) for number, row in enumerate(rows, 1))
    end = 0
    for number, field in enumerate(fields, 1):
        if field.offset < end:
            raise PlanError(f"argument {number} in the metadata of {kernel} begins before its predecessor ends")
        end = field.offset + field.size
    last = [field for field in fields if not field.is_hidden][-nulls:] if nulls else []
    if len(last) < nulls or any(field.kind != POINTER for field in last):
        raise PlanError(f"the metadata of {kernel} lacks the {nulls} scratch pointers of its compiler")
    return KernargLayout(kernel, size, fields, nulls)


def pack(layout: KernargLayout, launch: ResolvedLaunch, addresses: Mapping[str, int]) -> bytes:
    """Pack the segment of one launch, `size_bytes` long, zeros between the arguments.

    `addresses` are of all buffers that the launch names. PlanError with the launch's line where the arguments do not
    fit the kernel's in number, kind or size.
    """
    for mismatch in mismatches(launch, layout.explicit):
        raise PlanError(mismatch, launch.line)
    segment = bytearray(layout.size_bytes)
    for argument, field in zip(launch.args, layout.explicit, strict=True):
        segment[field.offset : field.offset + field.size] = _bytes(argument, addresses)
    for hidden in layout.hidden:
        value = _hidden(hidden.kind, launch)
        if value >> (8 * hidden.size):
            name = hidden.kind.removeprefix(HIDDEN)
            raise PlanError(f"{name} of {launch.kernel} is {value}, more than {hidden.size} bytes hold", launch.line)
        segment[hidden.offset : hidden.offset + hidden.size] = value.to_bytes(hidden.size, "little")
    return bytes(segment)


def _field(kernel: str, number: int, row: Any, segment_bytes: int) -> KernargField:
    subject = f"argument {number} in the metadata of {kernel}"
    if not isinstance(row, Mapping):
        raise PlanError(f"{subject} needs .offset, .size and .value_kind")
    kind, offset, size = (row.get(key) for key in (".value_kind", ".offset", ".size"))
    if not isinstance(kind, str) or not _is_count(offset, segment_bytes) or not _is_count(size, segment_bytes):
        raise PlanError(f"{subject} needs .offset, .size and .value_kind")
    if not size or offset + size > segment_bytes:
        raise PlanError(f"{subject} ends behind the {segment_bytes} bytes of its segment")
    if kind not in (POINTER, VALUE) and not kind.startswith(HIDDEN):
        raise PlanError(f"{subject} is a {kind!r}; a launch passes pointers ({POINTER}) and values ({VALUE})")
    if kind == POINTER and size != 8:
        raise PlanError(f"{subject} is a pointer of {size} bytes; a pointer has 8")
    return KernargField(kind, offset, size)


def _is_count(value: Any, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _bytes(argument: ResolvedArg, addresses: Mapping[str, int]) -> bytes:
    match argument:
        case BufferArg(name=name, offset=offset):
            return (addresses[name] + offset).to_bytes(8, "little")
        case NullArg(address=address):
            return address.to_bytes(8, "little")
        case ScalarArg(dtype=dtype, value=value):
            return stored(value, dtype).tobytes()
        case StructArg(fields=fields, size=size):
            content = bytearray(size)
            for start, leaf in fields:
                part = _bytes(leaf, addresses)
                content[start : start + len(part)] = part
            return bytes(content)


def _hidden(kind: str, launch: ResolvedLaunch) -> int:
    """Compute a hidden argument; 0 for remainders and offsets, which no launch has, and for a host's services."""
    name, _, axis = kind.removeprefix(HIDDEN).rpartition("_")
    extents = {"block_count": launch.grid, "group_size": launch.block}.get(name)
    if extents and axis in ("x", "y", "z"):
        return extents["xyz".index(axis)]
    return {"hidden_grid_dims": _GRID_DIMS, "hidden_dynamic_lds_size": launch.lds_bytes}.get(kind, 0)
