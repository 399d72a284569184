"""Release fences of the source, which the compiled code does not always show.

A global store may be under way at a raw `s_barrier`. Waves of a workgroup see each other's stores in order on gfx942,
so a fence for the workgroup needs no instruction there, and its place is lost. A comment in the listing keeps it.
"""

from __future__ import annotations

import re

from sandbox.machine.instrumented.ir_edits import Edits

_ORDER = r"(?:release|acq_rel|seq_cst)\b"
_SCOPE = r'(?:syncscope\("(?!wavefront|singlethread)[^"]*"\) )?'
_FENCE = re.compile(rf"^  fence {_SCOPE}{_ORDER}")
_ATOMIC = re.compile(rf"(?: = |^  )(?:atomicrmw|cmpxchg|store atomic) .*?[ )\"]{_ORDER}")
_MARK = '  call void asm sideeffect "; release fence", ""() #9001'


def release_fences(edits: Edits) -> None:
    """Mark each fence and each atomic operation that publishes what was done before, where it stands."""
    for number, line in enumerate(edits.body.lines):
        is_atomic = "atomic" in line or "cmpxchg" in line
        if (line.startswith("  fence ") and _FENCE.match(line)) or (is_atomic and _ATOMIC.search(line)):
            edits.before.setdefault(number, []).append(f"{_MARK}{edits.location(number)}")
