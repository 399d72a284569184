"""Requests of the judge to its child process: one frozen record each. What is large travels beside it as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from sandbox.gpu.layout import Layout


@dataclass(frozen=True)
class FieldArgument:
    """A field of a struct: its place in it, and an address or a value as in a `LaunchArgument`."""

    at: int
    buffer: str = ""
    dtype: str = ""
    value: int | float | bool = 0
    offset: int = 0


@dataclass(frozen=True)
class LaunchArgument:
    """One argument: an address in a buffer of the case, a value of one of the task's dtypes, or a struct."""

    buffer: str = ""
    dtype: str = ""
    value: int | float | bool = 0
    offset: int = 0  # bytes
    fields: tuple[FieldArgument, ...] = ()
    size: int = 0  # bytes of a struct; 0 for what is none


@dataclass(frozen=True)
class KernelLaunch:
    """One launch, its kernel named by the symbol in the image."""

    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int  # dynamic
    args: tuple[LaunchArgument, ...]
    cooperative: bool = False  # all its blocks run at once


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
    """One call on one set; these outputs of it come back in the file. Fresh: nothing of an earlier call is left."""

    tag: str
    launches: Launches
    seed: int
    number: int
    outputs: tuple[str, ...] = ()
    is_fresh: bool = True


@dataclass(frozen=True)
class BatchCall:
    """Many cases as one: the buffers of all, their launches in order, the outputs that come back in this order."""

    layout: Layout
    launches: Launches
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class BatchRequest:
    """Allocate for a batch and call it once. The files: inputs as of a `BindRequest`, and the outputs."""

    tag: str
    call: str  # the record `BatchCall`, encoded where it was made
    seed: int
    noise_seed: int
    skip: int = 0
    is_last: bool = False  # as of a `LoadRequest`


@dataclass(frozen=True)
class ChainRequest:
    """Calls in a row with nothing reset between them, one on every set for each seed; these outputs of them all."""

    tag: str
    launches: Launches
    seeds: tuple[int, ...]
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplayRequest:
    """The calls of a window again, each of them fresh."""

    tag: str
    launches: Launches
    seed: int
    calls: int


@dataclass(frozen=True)
class VariablesRequest:
    """The bytes of the device variables, one after the other, into the file. `is_reset`: their first values."""

    tag: str
    is_reset: bool = False


@dataclass(frozen=True)
class PresetRequest:
    """The device variables get the bytes in the file."""

    tag: str


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
    | BatchRequest
    | ChainRequest
    | ReplayRequest
    | VariablesRequest
    | PresetRequest
    | ReadRequest
    | WindowsRequest
    | RepeatRequest
    | ControlRequest
    | NoiseRequest
)
RUNS_CANDIDATE = (CallRequest, BatchRequest, ChainRequest, ReplayRequest, WindowsRequest, RepeatRequest)
REQUESTS: tuple[type[Request], ...] = get_args(Request)
