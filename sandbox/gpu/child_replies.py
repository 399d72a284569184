"""Replies of the child process to the judge: one frozen record each.

A candidate's code runs in the child's process on the GPU, so the judge believes no reply as it comes: `child_channel`
checks its fields and their types, the record their ranges, and `ChildProcess` that the reply fits the request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from records.evaluation import FindingKind
from sandbox.gpu.child_messages import Window
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.fence import Fence

MOST_TEXT = 4096  # characters of a sentence
WORD = 1 << 64


@dataclass(frozen=True)
class OpenReply:
    """The GPU as its driver describes it, and the level of the fence around the process."""

    properties: GpuProperties
    free_bytes: int
    fence: Fence = "open"


@dataclass(frozen=True)
class DoneReply:
    """It is done, and there is nothing to report."""


@dataclass(frozen=True)
class ShortReply:
    """Memory does not suffice yet: ask again when no other process of ours holds any."""


@dataclass(frozen=True)
class CallReply:
    """One call: blocks of 16 bytes that changed and may not, and the sum over the set's outputs."""

    changed: int
    sum: int

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        _require(0 <= self.changed < WORD and 0 <= self.sum < WORD)


@dataclass(frozen=True)
class SumsReply:
    """Several calls: blocks that changed and may not, of all of them, and for each a sum over its outputs."""

    changed: int
    sums: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        _require(0 <= self.changed < WORD and all(0 <= n < WORD for n in self.sums))


@dataclass(frozen=True)
class WindowRow:
    """One window: microseconds a call; where it was inspected, changed blocks and a sum for each of its sets."""

    time_us: float
    changed: int = 0
    sums: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        _require(_is_time(self.time_us) and 0 <= self.changed < WORD and all(0 <= n < WORD for n in self.sums))

    def answers(self, window: Window) -> bool:
        """Report whether it can be this window's: one sum a set when it was inspected, nothing when it was not."""
        if not window.inspect:
            return not self.sums and not self.changed
        return len(self.sums) == (1 if window.warm else window.calls)


@dataclass(frozen=True)
class WindowsReply:
    """One row for each window."""

    rows: tuple[WindowRow, ...]


@dataclass(frozen=True)
class StretchReply:
    """Microseconds of a stretch of calls, by the device's events and by the child's own clock."""

    device_us: float
    calls_us: float

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        _require(_is_time(self.device_us) and _is_time(self.calls_us))


@dataclass(frozen=True)
class NoiseReply:
    """The words computed."""

    words: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        _require(all(0 <= n < WORD for n in self.words))


@dataclass(frozen=True)
class FailedReply:
    """A request that failed: `fault` is a finding's kind when a kernel caused it, `lost` when only the device can."""

    message: str
    fault: FindingKind | None = None
    lost: bool = False

    def __post_init__(self) -> None:
        """Refuse a text that is no sentence."""
        _require(0 < len(self.message) <= MOST_TEXT)


Reply = (
    OpenReply | DoneReply | ShortReply | CallReply | SumsReply | WindowsReply | StretchReply | NoiseReply | FailedReply
)


def _is_time(value: float) -> bool:
    return math.isfinite(value) and value >= 0


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("a number or a text of a message is out of its range")
