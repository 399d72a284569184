"""Every message survives the wire, and numbers that cannot be are refused on arrival."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from sandbox.gpu.child_channel import Malformed, decode, encode
from sandbox.gpu.child_messages import (
    REQUESTS,
    BatchRequest,
    BindRequest,
    CallRequest,
    ChainRequest,
    ControlRequest,
    KernelLaunch,
    LaunchArgument,
    LoadRequest,
    NoiseRequest,
    OpenRequest,
    PresetRequest,
    ReadRequest,
    RepeatRequest,
    ReplayRequest,
    TrustRequest,
    VariablesRequest,
    Window,
    WindowsRequest,
)
from sandbox.gpu.child_replies import (
    MOST_TEXT,
    CallReply,
    DoneReply,
    FailedReply,
    NoiseReply,
    OpenReply,
    Reply,
    ShortReply,
    StretchReply,
    SumsReply,
    WindowRow,
    WindowsReply,
)
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.layout import lay_out

ARGUMENTS = (LaunchArgument(buffer="x"), LaunchArgument(dtype="f32", value=0.1), LaunchArgument(dtype="i64", value=-7))
LAUNCHES = (KernelLaunch("_Z1kPf", (7, 1, 1), (64, 2, 1), 1024, ARGUMENTS),)
WINDOWS = (Window("B", 3, (1 << 63) - 1), Window("A", 1, 5, warm=True, inspect=False), Window("A", 2, 5, fetch=1))
MESSAGES = (
    OpenRequest(),
    TrustRequest(),
    LoadRequest("B", ("counter",), has_hidden=True),
    BindRequest(lay_out([("x", "input", 100), ("y", "output", 40)]), 3, whole=False, seed=9, skip=256, is_last=True),
    CallRequest("B", LAUNCHES, 7, 2, ("y",), is_fresh=False),
    BatchRequest("B", "{}", 7, 8, skip=256, is_last=True),
    ChainRequest("B", LAUNCHES, (7, 8), ("y",)),
    ReplayRequest("B", LAUNCHES, 7, 3),
    VariablesRequest("B", is_reset=True),
    PresetRequest("B"),
    ReadRequest(("x", "y")),
    WindowsRequest(WINDOWS, {"A": LAUNCHES, "B": ()}, 1 << 30, ("y",)),
    RepeatRequest("B", LAUNCHES, 7, 100),
    ControlRequest(100, 1 << 30),
    NoiseRequest(7, 4096),
    OpenReply(GpuProperties("a GPU", "sm_90", "13.0", 1 << 37, {"units": 132}, "0000:1b:00.0"), 1 << 36, "closed"),
    DoneReply(),
    ShortReply(),
    CallReply(0, (1 << 64) - 1),
    SumsReply(2, (1, 2)),
    WindowsReply((WindowRow(12.5, 0, (1, 2, 3)), WindowRow(3.0))),
    StretchReply(100.0, 101.5),
    NoiseReply((0, (1 << 64) - 1)),
    FailedReply("the GPU refuses the launch", "over_limit"),
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_survives_the_wire(message: object) -> None:
    kinds: Any = (*REQUESTS, *get_args(Reply))
    assert decode(encode(message), kinds) == message


def test_no_message_is_left_out() -> None:
    assert {type(message) for message in MESSAGES} == {*REQUESTS, *get_args(Reply)}


def changed(message: object, /, **fields: object) -> bytes:
    """The message with fields that its record would refuse."""
    copy = object.__new__(type(message))
    for name, value in {**vars(message), **fields}.items():
        object.__setattr__(copy, name, value)
    return encode(copy)


@pytest.mark.parametrize(
    "message",
    [
        changed(CallReply(0, 0), changed=-1),
        changed(CallReply(0, 0), sum=1 << 64),
        changed(StretchReply(1.0, 1.0), device_us=float("nan")),
        changed(StretchReply(1.0, 1.0), calls_us=-1.0),
        changed(StretchReply(1.0, 1.0), calls_us=float("inf")),
        changed(WindowsReply(()), rows=({"time_us": -1.0, "changed": 0, "sums": []},)),
        changed(WindowsReply(()), rows=({"time_us": 1.0, "changed": 0, "sums": [-1]},)),
        changed(WindowsReply(()), rows=({"time_us": 1.0, "changed": 0},)),
        changed(NoiseReply(()), words=(1 << 64,)),
        changed(FailedReply("no"), message=""),
        changed(FailedReply("no"), message="x" * (MOST_TEXT + 1)),
        changed(FailedReply("no"), fault="accepted"),
        changed(FailedReply("no"), lost=None),
    ],
)
def test_a_reply_out_of_range_is_malformed(message: bytes) -> None:
    kinds: Any = get_args(Reply)
    with pytest.raises(Malformed):
        decode(message, kinds)
