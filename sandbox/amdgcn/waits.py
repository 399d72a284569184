"""Number of times that a wave waits for its loads: the waits of a listing, replayed with every load taking one unit.

Loads that were issued before the wait for the first of them cost one unit together; what is fetched ahead costs what is
left of its unit. Loops are replayed twice, so that what the first turn fetches for the second counts. A wait for a load
from before the last barrier is told apart: the workgroup had other work to do in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.amdgcn.mnemonics import memory_class

_COUNT = re.compile(r"vmcnt\((\d+)\)")


@dataclass(frozen=True)
class WaitEvent:
    """A load, another access that vmcnt counts, a barrier, or a wait until at most `left` accesses are under way."""

    kind: str
    left: int = 0


def event(mnemonic: str, operands: str) -> WaitEvent | None:
    """Effect of this instruction on the waits, None where it has none."""
    if mnemonic == "s_barrier":
        return WaitEvent("barrier")
    if mnemonic == "s_waitcnt":
        found = _COUNT.search(operands)
        return WaitEvent("wait", int(found[1])) if found else None
    if mnemonic.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return WaitEvent("load" if memory_class(mnemonic) == "load" else "access")
    return None


def stalls(blocks: Sequence[Sequence[WaitEvent]], regions: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Units that each block waits for loads: in all, and for loads from before the last barrier.

    `regions` are the first and last blocks of stretches that are run more than once; none shares a block with another.
    """
    replay, at = _Replay(blocks), 0
    for first, last in sorted(regions):
        replay.stretch(at, first - 1)
        replay.stretch(first, last)
        replay.stretch(first, last)
        at = last + 1
    replay.stretch(at, len(blocks) - 1)
    return replay.found


@dataclass
class _Replay:
    blocks: Sequence[Sequence[WaitEvent]]
    clock: float = 0.0
    phase: int = 0
    under_way: list[tuple[float, int]] = field(default_factory=list)  # when it is there, and in which phase it began

    def __post_init__(self) -> None:
        self.found = [(0.0, 0.0)] * len(self.blocks)

    def stretch(self, first: int, last: int) -> None:
        """Replay these blocks in the order of the listing."""
        for index in range(first, last + 1):
            self.found[index] = self.block(index)

    def block(self, index: int) -> tuple[float, float]:
        """Replay one block."""
        whole = late = 0.0
        for one in self.blocks[index]:
            if one.kind == "barrier":
                self.phase += 1
            elif one.kind == "wait":
                waited, crossed = self.wait(one.left)
                whole += waited
                late += waited if crossed else 0.0
            else:
                self.under_way.append((self.clock + 1.0 if one.kind == "load" else 0.0, self.phase))
        return whole, late

    def wait(self, left: int) -> tuple[float, bool]:
        """Units until at most `left` accesses are under way, and whether the last of them began before a barrier."""
        done = self.under_way[: max(0, len(self.under_way) - left)]
        if not done:
            return 0.0, False
        ready, phase = max(done)
        self.under_way = self.under_way[len(done) :]
        waited = max(0.0, ready - self.clock)
        self.clock = max(self.clock, ready)
        return waited, phase < self.phase
