"""Forms of memory instructions: widths of addresses, atomics that return."""

from __future__ import annotations

from sandbox.machine.instruction_draft import Draft, narrowed
from sandbox.machine.layout import ABSENT, Flag
from sandbox.machine.unreadable import UnreadableListing


def check_memory(draft: Draft) -> None:
    """Refuse an address of another width than its form needs; give an atomic that returns its result."""
    row, flags = draft.row, draft.flags
    is_buffer = row.semantics.startswith(("buffer", "tbuffer"))
    width = draft.sources[0][1]
    if is_buffer:
        _check_width(draft, width, bool(flags & Flag.OFFSET_ENABLED) + bool(flags & Flag.INDEX_ENABLED))
    elif row.group == "scratch" and width:
        _check_width(draft, width, 1)
    elif row.group == "vmem":
        _check_width(draft, width, 1 if flags & Flag.HAS_BASE else 2)
    if not row.is_atomic or row.group == "lds":
        return
    returns = bool(flags & Flag.RETURNS)
    if is_buffer or row.group == "smem":
        if returns:
            draft.results[0] = narrowed(draft.sources[1 if is_buffer else 2], row.memory_bytes // 4)
    elif (draft.results[0] is not ABSENT) != returns:
        raise UnreadableListing("an atomic returns a value if and only if it has sc0", row.name)


def _check_width(draft: Draft, width: int, wanted: int) -> None:
    if width != wanted:
        raise UnreadableListing(f"this address has {width} registers instead of {wanted}", draft.row.name)
