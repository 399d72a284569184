"""A reply is believed only when it fits what was asked; who is to blame depends on whether a candidate has run."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable

import pytest

from sandbox.gpu.child_channel import ChildChannel, Closed
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_main import serve
from sandbox.gpu.child_messages import (
    REQUESTS,
    CallRequest,
    NoiseRequest,
    OpenRequest,
    RepeatRequest,
    Request,
    Window,
    WindowsRequest,
)
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.child_replies import (
    CallReply,
    DoneReply,
    FailedReply,
    NoiseReply,
    OpenReply,
    StretchReply,
    WindowRow,
    WindowsReply,
)

CALL = CallRequest("B", (), 7, 0)
WINDOWS = WindowsRequest(
    (Window("B", 2, 7), Window("B", 4, 8, warm=True), Window("B", 3, 9, inspect=False)), {"B": ()}, 1 << 20, ()
)
ROWS = (WindowRow(1.0, 0, (1, 2)), WindowRow(1.0, 0, (3,)), WindowRow(1.0))


class Lying(ChildProcess):
    """A child of which only the channel is there; every request gets the same reply."""

    def __init__(self, reply: object) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(GpuSlot("amd", 0, "no library is opened before the first request"))
        self._channel.close()
        self._channel, self._theirs, self._reply = ChildChannel(ours), ChildChannel(theirs, takes_files=True), reply
        threading.Thread(target=self._lie, daemon=True).start()

    def _lie(self) -> None:
        while True:
            try:
                _, files = self._theirs.receive(REQUESTS)
            except Closed:
                return self._theirs.close()
            for handle in files:
                os.close(handle)
            self._theirs.send(self._reply)


@pytest.mark.parametrize("reply", [DoneReply(), NoiseReply((1,)), StretchReply(1.0, 1.0)])
def test_a_reply_of_another_kind_is_no_answer(reply: object) -> None:
    with Lying(reply) as child:
        with pytest.raises(ChildFault, match="does not fit") as caught:
            child.call(CALL, 5)
        assert child.is_broken
        assert (caught.value.kind, caught.value.lost, caught.value.ended) == (None, False, True), "a candidate has run"


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ROWS[:2],
        (*ROWS, ROWS[0]),
        (WindowRow(1.0, 0, (1,)), *ROWS[1:]),
        (WindowRow(1.0), *ROWS[1:]),
        (ROWS[0], WindowRow(1.0, 0, (3, 3, 3, 3)), ROWS[2]),
        (*ROWS[:2], WindowRow(1.0, 0, (1, 2, 3))),
        (*ROWS[:2], WindowRow(1.0, 1)),
    ],
)
def test_rows_that_are_not_those_of_the_windows_are_no_answer(rows: tuple[WindowRow, ...]) -> None:
    with Lying(WindowsReply(rows)) as child, pytest.raises(ChildFault, match="does not fit"):
        child.windows(WINDOWS, 5)


def test_rows_that_fit_are_believed() -> None:
    with Lying(WindowsReply(ROWS)) as child:
        assert [(r.time_us, r.changed, r.sums) for r in child.windows(WINDOWS, 5)] == [
            (1.0, 0, (1, 2)),
            (1.0, 0, (3,)),
            (1.0, 0, ()),
        ]
        assert not child.is_broken


def test_before_a_candidate_has_run_only_the_device_can_be_to_blame() -> None:
    with Lying(NoiseReply((1, 2, 3))) as child:
        with pytest.raises(ChildFault, match="does not fit") as caught:
            child.noise(7, 4)
        assert (caught.value.kind, caught.value.lost, caught.value.ended) == (None, True, False)


def test_a_failure_keeps_its_fields() -> None:
    with Lying(FailedReply("the kernel was stopped", "out_of_bounds", lost=True)) as child:
        with pytest.raises(ChildFault, match="was stopped") as caught:
            child.ask(OpenRequest(), (OpenReply,))
        assert (caught.value.kind, caught.value.lost, child.is_broken) == ("out_of_bounds", True, True)


@pytest.mark.parametrize(
    ("request_", "expected"), [(OpenRequest(), OpenReply), (RepeatRequest("B", (), 7, 1), StretchReply)]
)
def test_a_process_that_the_system_kills_is_nobodys_fault(request_: Request, expected: type) -> None:
    with ChildProcess(GpuSlot("amd", 0, "no library is opened before the first request")) as child:
        os.kill(child._process.pid, signal.SIGKILL)
        with pytest.raises(ChildFault, match="free some of the machine's memory") as caught:
            child.ask(request_, (expected,))
    assert (caught.value.kind, caught.value.lost, caught.value.ended) == (None, False, False)


def ask(send: Callable[[socket.socket], None]) -> FailedReply:
    """The child's answer to what is sent to it; it opens no driver for it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:

        def work() -> None:
            with contextlib.suppress(Closed):
                serve(ChildChannel(theirs), "amd", 0, "none")

        thread = threading.Thread(target=work)
        thread.start()
        send(ours)
        reply, _ = ChildChannel(ours).receive((FailedReply,), 5)
        ours.shutdown(socket.SHUT_WR)
        thread.join(5)
        assert not thread.is_alive()
        return reply


def test_the_child_refuses_what_it_does_not_know_and_goes_on() -> None:
    body = b'{"kind":"EraseRequest","fields":{}}'
    reply = ask(lambda end: end.sendall(len(body).to_bytes(8, "little") + body))
    assert "cannot read a request" in reply.message and (reply.fault, reply.lost) == (None, False)
    reply = ask(lambda end: ChildChannel(end).send(CallReply(0, 0)))
    assert "cannot read a request" in reply.message
    reply = ask(lambda end: ChildChannel(end).send(NoiseRequest(7, 4)))
    assert "driver" in reply.message and reply.lost
