"""Kernels of a listing: the descriptor's directives and the metadata, as hardware and driver would read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.machine.assembler_expressions import evaluate
from sandbox.machine.image_layout import KERNEL
from sandbox.machine.unreadable import UnreadableListing

# Values where the directive is missing: LLVM's assembler, "AMDHSA Kernel Assembler Directives", for gfx942.
_DEFAULTS = {
    "system_sgpr_workgroup_id_x": 1,
    "float_denorm_mode_16_64": 3,
    "dx10_clamp": 1,
    "ieee_mode": 1,
    "next_free_vgpr": 0,
    "next_free_sgpr": 0,
    "accum_offset": 4,
}
_USER = (  # in the order in which they fill s0 on: bit, directive
    (0, "user_sgpr_private_segment_buffer"),
    (1, "user_sgpr_dispatch_ptr"),
    (2, "user_sgpr_queue_ptr"),
    (3, "user_sgpr_kernarg_segment_ptr"),
    (4, "user_sgpr_dispatch_id"),
    (5, "user_sgpr_flat_scratch_init"),
    (6, "user_sgpr_private_segment_size"),
)


@dataclass(frozen=True)
class ArgumentRecord:
    """One argument of a kernel, from the metadata; offset and size in bytes."""

    name: str
    offset: int
    size: int
    value_kind: str
    address_space: str = ""


@dataclass(frozen=True)
class DecodedKernel:
    """A kernel with what its descriptor and its metadata say; sizes in bytes, `entry` is an instruction."""

    symbol: str
    entry: int
    descriptor: Mapping[str, int]  # directives without .amdhsa_, evaluated
    arguments: tuple[ArgumentRecord, ...]
    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    max_workgroup_size: int
    uses_dynamic_stack: bool
    metadata: Mapping[str, Any]

    def field(self, name: str) -> int:
        """Look up a directive's value, or what the assembler takes where it is missing."""
        return self.descriptor.get(name, _DEFAULTS.get(name, 0))

    def packed(self) -> bytes:
        """Pack the kernel's record in the image."""
        ids = [self.field(f"system_sgpr_workgroup_{name}") for name in ("id_x", "id_y", "id_z", "info")]
        mode = (
            self.field("float_round_mode_32")
            | self.field("float_round_mode_16_64") << 2
            | self.field("float_denorm_mode_32") << 4
            | self.field("float_denorm_mode_16_64") << 6
            | self.field("dx10_clamp") << 8
            | self.field("ieee_mode") << 9
        )
        return KERNEL.pack(
            self.entry,
            self.lds_bytes,
            self.scratch_bytes,
            self.kernarg_bytes,
            self.field("next_free_vgpr"),
            self.field("accum_offset"),
            self.field("next_free_sgpr"),
            sum(bool(self.field(name)) << bit for bit, name in _USER),
            self.field("user_sgpr_kernarg_preload_length"),
            self.field("user_sgpr_kernarg_preload_offset"),
            sum(bool(value) << bit for bit, value in enumerate(ids)),
            self.field("system_vgpr_workitem_id"),
            int(bool(self.field("enable_private_segment"))),
            mode,
            int(self.uses_dynamic_stack),
        )


def read_kernel(
    symbol: str, entry: int, directives: Mapping[str, str], metadata: Mapping[str, Any], value_of: Callable[[str], int]
) -> DecodedKernel:
    """Read the kernel of these directives (names without .amdhsa_, values as text) and this entry of the metadata."""
    descriptor = {name: _evaluated(name, text, value_of) for name, text in directives.items()}
    arguments = tuple(_argument(symbol, entry) for entry in metadata.get(".args") or ())
    return DecodedKernel(
        symbol,
        entry,
        descriptor,
        arguments,
        max(descriptor.get("group_segment_fixed_size", 0), _count(metadata, ".group_segment_fixed_size")),
        max(descriptor.get("private_segment_fixed_size", 0), _count(metadata, ".private_segment_fixed_size")),
        max(descriptor.get("kernarg_size", 0), _count(metadata, ".kernarg_segment_size")),
        _count(metadata, ".max_flat_workgroup_size", 1024),
        bool(descriptor.get("uses_dynamic_stack", 0)) or str(metadata.get(".uses_dynamic_stack", "false")) == "true",
        metadata,
    )


def _evaluated(name: str, text: str, value_of: Callable[[str], int]) -> int:
    value = evaluate(text, value_of)
    if not 0 <= value < 1 << 40:
        raise UnreadableListing("this value of the kernel's descriptor is out of range", f".amdhsa_{name} {text[:60]}")
    return value


def _argument(symbol: str, entry: object) -> ArgumentRecord:
    if not isinstance(entry, dict):
        raise UnreadableListing("the metadata of this kernel's arguments is not understood", symbol)
    kind = entry.get(".value_kind")
    if not isinstance(kind, str):
        raise UnreadableListing("an argument in the metadata has no kind", symbol)
    name, space = entry.get(".name", ""), entry.get(".address_space", "")
    return ArgumentRecord(str(name), _count(entry, ".offset"), _count(entry, ".size"), kind, str(space))


def _count(table: Mapping[str, Any], name: str, default: int = 0) -> int:
    value = table.get(name, default)
    if not isinstance(value, int) or not 0 <= value < 1 << 40:
        raise UnreadableListing("this number of the metadata is out of range", f"{name} {str(value)[:40]}")
    return value
