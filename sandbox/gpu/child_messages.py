"""Messages between the judge and its child process: one frozen record for each request and each reply.

What is large travels beside a message as a file. A candidate's code runs in the child's process on the GPU, so the
judge believes no reply as it comes: `child_channel` checks its fields and their types, the record their ranges, and
`ChildProcess` that the reply fits the request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from records.evaluation import FindingKind
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.layout import Layout

MOST_TEXT = 4096  # characters of a sentence
WORD = 1 << 64


@dataclass(frozen=True)
class LaunchArgument:
    """One argument: the address of a buffer of the case, or a value of one of the task's dtypes."""

    buffer: str = ""
    dtype: str = ""
    value: int | float | bool = 0


@dataclass(frozen=True)
class KernelLaunch:
    """One launch, its kernel named by the symbol in the image."""

    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int  # dynamic
    args: tuple[LaunchArgument, ...]


Launches = tuple[KernelLaunch, ...]


@dataclass(frozen=True)
class Window:
    """So many calls of one image, each on its own set; `seed` decides what the sets hold. Warm: all on one set.

    Only an inspected window reports what changed and sums the outputs, and only one with `fetch` gives back the outputs
    of the set with that number; a kernel cannot know which windows are.
    """

    tag: str
    calls: int
    seed: int
    warm: bool = False
    inspect: bool = True
    fetch: int | None = None


@dataclass(frozen=True)
class OpenRequest:
    """Describe the GPU."""


@dataclass(frozen=True)
class TrustRequest:
    """Load the judge's own kernels; the image is the file."""


@dataclass(frozen=True)
class LoadRequest:
    """Load the image in the file under a tag."""

    tag: str
    variables: tuple[str, ...]  # symbols of its device variables, which are reset before each call
    has_hidden: bool  # it has others, without a symbol: only a new load resets those
    is_last: bool = False  # no other process of ours holds memory any more: fail where it does not suffice


@dataclass(frozen=True)
class BindRequest:
    """Allocate the buffers of a case; the file holds base A's inputs, then base B's, in the layout's order."""

    layout: Layout
    sets: int
    whole: bool  # a set holds one base, not a mixture of both
    seed: int  # of the noise where no input lies
    skip: int = 0  # bytes left free before the first set
    is_last: bool = False  # as of a `LoadRequest`


@dataclass(frozen=True)
class CallRequest:
    """One call on one set; these outputs of it come back in the file."""

    tag: str
    launches: Launches
    seed: int
    number: int
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadRequest:
    """Buffers of the first set as they are, into the file."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class WindowsRequest:
    """Timed windows in this order; the outputs of those that fetch come back in the file, one after the other."""

    windows: tuple[Window, ...]
    launches: Mapping[str, Launches]  # by tag
    flush_bytes: int
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class RepeatRequest:
    """The same call so many times without a pause."""

    tag: str
    launches: Launches
    seed: int
    times: int


@dataclass(frozen=True)
class ControlRequest:
    """A kernel of the judge's own so many times without a pause."""

    times: int
    flush_bytes: int


@dataclass(frozen=True)
class NoiseRequest:
    """The words that a kernel with a known result computes."""

    seed: int
    words: int


Request = (
    OpenRequest
    | TrustRequest
    | LoadRequest
    | BindRequest
    | CallRequest
    | ReadRequest
    | WindowsRequest
    | RepeatRequest
    | ControlRequest
    | NoiseRequest
)
RUNS_CANDIDATE = (CallRequest, WindowsRequest, RepeatRequest)


@dataclass(frozen=True)
class OpenReply:
    """The GPU as its driver describes it."""

    properties: GpuProperties
    free_bytes: int


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


Reply = OpenReply | DoneReply | ShortReply | CallReply | WindowsReply | StretchReply | NoiseReply | FailedReply
REQUESTS: tuple[type[Request], ...] = get_args(Request)


def _is_time(value: float) -> bool:
    return math.isfinite(value) and value >= 0


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("a number or a text of a message is out of its range")
