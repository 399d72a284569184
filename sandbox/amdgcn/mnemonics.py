"""Properties of gfx942's mnemonics: the slot that issues them, the memory they move, the number of bytes."""

from __future__ import annotations

import re

_WIDTHS = (
    ("x4", 16),
    ("x3", 12),
    ("x2", 8),
    ("b128", 16),
    ("b96", 12),
    ("b64", 8),
    ("f64", 8),
    ("byte", 1),
    ("_u8", 1),
    ("_i8", 1),
    ("_b8", 1),
    ("short", 2),
    ("_u16", 2),
    ("_i16", 2),
    ("_b16", 2),
)
_TRANSCENDENTAL = ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos")


def issue_category(mnemonic: str) -> str:
    """vector, memory, lds, scalar or branch; empty for waits and the like, which take no issue slot."""
    if mnemonic.startswith("v_"):
        return "vector"
    if mnemonic.startswith("ds_"):
        return "lds"
    if mnemonic.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return "memory"
    if mnemonic.startswith(("s_waitcnt", "s_nop", "s_sleep", "s_barrier", "s_setprio", "s_endpgm")):
        return ""
    if mnemonic.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")):
        return "branch"
    return "scalar" if mnemonic.startswith("s_") else ""


def memory_class(mnemonic: str) -> str:
    """`load`, `store`, `lds load` or `lds store`; empty for anything else, atomics included."""
    if "atomic" in mnemonic:
        return ""
    if mnemonic.startswith(("ds_read", "ds_load")):
        return "lds load"
    if mnemonic.startswith(("ds_write", "ds_store")):
        return "lds store"
    if mnemonic.startswith(("global_load", "flat_load", "buffer_load")):
        return "load"
    return "store" if mnemonic.startswith(("global_store", "flat_store", "buffer_store")) else ""


def bytes_per_lane(mnemonic: str) -> int:
    """Bytes that one lane moves; a `read2` or `write2` moves two elements."""
    width = next((size for mark, size in _WIDTHS if mark in mnemonic), 4)
    return width * (2 if re.match(r"ds_(read|write)2", mnemonic) else 1)


def is_transcendental(mnemonic: str) -> bool:
    """True where a vector instruction goes through the slow unit."""
    return mnemonic.split("_")[1] in _TRANSCENDENTAL


def is_copy(mnemonic: str) -> bool:
    """True where it only moves a vector register; their number depends on the register allocator."""
    return mnemonic.startswith(("v_mov_b", "v_accvgpr_mov", "v_pk_mov"))


def is_packed(mnemonic: str) -> bool:
    """True where it does two operations on 32 bits a lane, for which other instruction sets need two instructions."""
    return mnemonic.startswith(("v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"))
