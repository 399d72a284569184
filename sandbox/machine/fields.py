"""Operands that are no registers and no numbers: wait counts, hardware registers, messages, index modes."""

from __future__ import annotations

import re

from sandbox.machine.operands import integer
from sandbox.machine.unreadable import UnreadableListing

UNWAITED = 255
_COUNT = re.compile(r"(vmcnt|lgkmcnt|expcnt)(_sat)?\((\w{1,10})\)[\s&,]*")
_LIMITS = {"vmcnt": 63, "lgkmcnt": 15, "expcnt": 7}
_HARDWARE = {
    "HW_REG_MODE": 1,
    "HW_REG_STATUS": 2,
    "HW_REG_TRAPSTS": 3,
    "HW_REG_HW_ID": 4,
    "HW_REG_GPR_ALLOC": 5,
    "HW_REG_LDS_ALLOC": 6,
    "HW_REG_IB_STS": 7,
    "HW_REG_SH_MEM_BASES": 15,
    "HW_REG_TBA_LO": 16,
    "HW_REG_TBA_HI": 17,
    "HW_REG_TMA_LO": 18,
    "HW_REG_TMA_HI": 19,
    "HW_REG_XCC_ID": 20,
    "HW_REG_SQ_PERF_SNAPSHOT_DATA": 21,
    "HW_REG_SQ_PERF_SNAPSHOT_DATA1": 22,
    "HW_REG_SQ_PERF_SNAPSHOT_PC_LO": 23,
    "HW_REG_SQ_PERF_SNAPSHOT_PC_HI": 24,
}
_MESSAGES = {
    "MSG_INTERRUPT": 1,
    "MSG_GS": 2,
    "MSG_GS_DONE": 3,
    "MSG_SAVEWAVE": 4,
    "MSG_STALL_WAVE_GEN": 5,
    "MSG_HALT_WAVES": 6,
    "MSG_ORDERED_PS_DONE": 7,
    "MSG_EARLY_PRIM_DEALLOC": 8,
    "MSG_GS_ALLOC_REQ": 9,
    "MSG_GET_DOORBELL": 10,
    "MSG_SYSMSG": 15,
}
_INDEX_MODES = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}


def wait_counts(text: str) -> tuple[int, int, int]:
    """Read what s_waitcnt leaves under way: vmcnt, lgkmcnt, expcnt; UNWAITED where it does not wait for one."""
    if text[:1].isdigit():
        raw = word16(text)
        counts = {"vmcnt": (raw & 15) | (raw >> 14 & 3) << 4, "lgkmcnt": raw >> 8 & 15, "expcnt": raw >> 4 & 7}
    else:
        counts, end = dict(_LIMITS), 0
        while match := _COUNT.match(text, end):
            count = integer(match[3])
            if count > (limit := _LIMITS[match[1]]) and not match[2]:
                raise UnreadableListing(f"this counter counts to {limit}", match[0].strip())
            counts[match[1]], end = min(count, limit), match.end()
        if end < len(text) or not text:
            raise UnreadableListing("this wait is not known", text[end:][:80])
    vmcnt, lgkmcnt, expcnt = (UNWAITED if counts[name] == _LIMITS[name] else counts[name] for name in _LIMITS)
    return vmcnt, lgkmcnt, expcnt


def hardware_register(text: str) -> int:
    """Pack hwreg(name, offset, size) in 16 bits: the register in bits 0 to 5, offset from 6, size less 1 from 11."""
    if not text.startswith("hwreg("):
        return word16(text)
    parts = [part.strip() for part in text[6:].rstrip(")").split(",")]
    number = _HARDWARE.get(parts[0])
    number = integer(parts[0]) if number is None else number
    offset, size = (integer(parts[1]), integer(parts[2])) if len(parts) == 3 else (0, 32)
    if len(parts) not in (1, 3) or not (0 <= number < 64 and 0 <= offset < 32 and 0 < size <= 32):
        raise UnreadableListing("this hardware register is not known", text[:80])
    return number | offset << 6 | (size - 1) << 11


def message(text: str) -> int:
    """Pack sendmsg(name, operation, stream) in 16 bits."""
    if not text.startswith("sendmsg("):
        return word16(text)
    parts = [part.strip() for part in text[8:].rstrip(")").split(",")]
    number = _MESSAGES.get(parts[0])
    numbers = [integer(parts[0]) if number is None else number, *(integer(part) for part in parts[1:])]
    if len(numbers) > 3 or any(not 0 <= n < 16 for n in numbers):
        raise UnreadableListing("this message is not known", text[:80])
    return sum(n << shift for n, shift in zip(numbers, (0, 4, 8), strict=False))


def index_mode(text: str) -> int:
    """Read the bits of gpr_idx(SRC0,DST): which operands are indexed by m0."""
    if not text.startswith("gpr_idx("):
        return word16(text)
    names = [part.strip() for part in text[8:].rstrip(")").split(",") if part.strip()]
    if unknown := [name for name in names if name not in _INDEX_MODES]:
        raise UnreadableListing("this index mode is not known", unknown[0][:80])
    return sum(_INDEX_MODES[name] for name in set(names))


def word16(text: str) -> int:
    """Read a number of 16 bits, signed or not; its low 16 bits."""
    value = integer(text)
    if not -32768 <= value <= 65535:
        raise UnreadableListing("this number has more than 16 bits", text)
    return value & 0xFFFF
