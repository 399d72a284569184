"""Data parallel primitives of gfx9 behind a vector instruction: from which lane its first operand comes.

`v_add_f32_dpp v0, v1, v2 row_shr:4 row_mask:0xf bank_mask:0xf` adds what the lane four places below has. A lane whose
source lies outside of its row, or that a mask leaves out, keeps its result; with `bound_ctrl` the former reads zero.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ALL = 0xF
_SAME_LANE = 0xE4  # quad_perm:[0,1,2,3]
_QUAD = re.compile(r"quad_perm:\[\s*([0-3])\s*,\s*([0-3])\s*,\s*([0-3])\s*,\s*([0-3])\s*\]")
_SHIFT = re.compile(r"(row_shl|row_shr|row_ror|row_newbcast):(\d{1,2})")
_SHIFTS = {"row_shl": 0x100, "row_shr": 0x110, "row_ror": 0x120, "row_newbcast": 0x150}
_FIXED = {
    **{"wave_shl:1": 0x130, "wave_rol:1": 0x134, "wave_shr:1": 0x138, "wave_ror:1": 0x13C},
    **{"row_mirror": 0x140, "row_half_mirror": 0x141, "row_bcast:15": 0x142, "row_bcast:31": 0x143},
}
_MASK = re.compile(r"(row_mask|bank_mask):(0x[0-9a-fA-F]|\d{1,2})")
_FIRST = re.compile(r"[ \t,](quad_perm|row_\w+|wave_\w+|bank_mask|bound_ctrl)\b")
_PIECE = re.compile(r"quad_perm:\[[^\]]*\]|[^\s,\[\]]+")


class Lanes(NamedTuple):
    """The control word of the instruction, its masks of rows and banks, and whether a missing lane reads zero."""

    control: int
    rows: int = _ALL
    banks: int = _ALL
    is_zero: bool = False

    def read(self, value: str) -> str:
        """C++ for the operand's bits as they come from the other lane."""
        return f"__builtin_amdgcn_update_dpp(0, {value}, {self._controls(self.control, self.is_zero)})"

    @property
    def is_written(self) -> str:
        """C++ that is not 0 in lanes whose result is written."""
        control = _SAME_LANE if self.is_zero else self.control
        return f"__builtin_amdgcn_update_dpp(0, 1, {self._controls(control, False)})"

    def _controls(self, control: int, is_zero: bool) -> str:
        return f"{control}, {self.rows}, {self.banks}, {str(is_zero).lower()}"


def without_modifiers(line: str) -> tuple[str, Lanes | None] | None:
    """A line without its modifiers of lanes, and what they say; None where one is not known."""
    if (at := _FIRST.search(line)) is None:
        return line, None
    control, masks, is_zero = -1, {"row_mask": _ALL, "bank_mask": _ALL}, False
    for piece in _PIECE.findall(line[at.start() :]):
        if mask := _MASK.fullmatch(piece):
            masks[mask[1]] = int(mask[2], 0)
        elif piece in ("bound_ctrl:0", "bound_ctrl:1"):  # both spell the bit that is set
            is_zero = True
        elif control < 0 and (found := _control(piece)) is not None:
            control = found
        else:
            return None
    if control < 0 or max(masks.values()) > _ALL:
        return None
    return line[: at.start()].rstrip(" \t,"), Lanes(control, masks["row_mask"], masks["bank_mask"], is_zero)


def _control(piece: str) -> int | None:
    if quad := _QUAD.fullmatch(piece):
        return sum(int(lane) << 2 * place for place, lane in enumerate(quad.groups()))
    if (shift := _SHIFT.fullmatch(piece)) and int(shift[2]) < 16 and (int(shift[2]) or shift[1] == "row_newbcast"):
        return _SHIFTS[shift[1]] + int(shift[2])
    return _FIXED.get(piece)
