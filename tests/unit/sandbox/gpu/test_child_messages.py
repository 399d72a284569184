"""The channel between the judge and its child: descriptors arrive, and late, gone and no message are told apart."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sandbox.gpu.child_messages import MAX_BYTES, ChildChannel, Closed, Late, filled_file, shared_file


@pytest.fixture
def ends() -> Iterator[tuple[ChildChannel, socket.socket]]:
    """A channel, and the other end as a bare socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ChildChannel(ours), theirs


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_message_and_its_files_arrive(ends: tuple[ChildChannel, socket.socket]) -> None:
    channel, before = ChildChannel(ends[1]), opened()
    with shared_file("one", b"12345") as one, shared_file("two", np.zeros(0, np.uint8)) as two:
        ends[0].send({"do": "load", "long": "x" * 100_000}, [one, two])
        message, files = channel.receive(5)
    assert message == {"do": "load", "long": "x" * 100_000}
    assert os.pread(files[0], 9, 0) == b"12345"  # although the sender has closed it
    assert os.fstat(files[1]).st_size == 1
    for handle in files:
        os.close(handle)
    assert opened() == before


def test_messages_follow_each_other(ends: tuple[ChildChannel, socket.socket]) -> None:
    sender, receiver = ends[0], ChildChannel(ends[1])
    thread = threading.Thread(target=lambda: [sender.send({"n": n, "pad": "x" * 300_000}) for n in range(5)])
    thread.start()
    assert [receiver.receive(5)[0]["n"] for _ in range(5)] == list(range(5))
    thread.join()


@pytest.mark.parametrize("begun", [b"", b"\x05\0", (100).to_bytes(8, "little") + b'{"half": '])
def test_what_does_not_come_is_late(ends: tuple[ChildChannel, socket.socket], begun: bytes) -> None:
    ends[1].sendall(begun)
    with pytest.raises(Late):
        ends[0].receive(0.05)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(8, "little") + body


@pytest.mark.parametrize(
    "said",
    [framed(b"no json"), framed(b"[1]"), framed(b"[" * 100_000), (MAX_BYTES + 1).to_bytes(8, "little"), b"\x05\0"],
)
def test_what_is_no_message_closes(ends: tuple[ChildChannel, socket.socket], said: bytes) -> None:
    ends[1].sendall(said)
    ends[1].shutdown(socket.SHUT_WR)
    with pytest.raises(Closed):
        ends[0].receive(5)


def test_nobody_there_is_told(ends: tuple[ChildChannel, socket.socket]) -> None:
    ends[1].close()
    with pytest.raises(Closed):
        ends[0].receive(5)
    with pytest.raises(Closed), shared_file("one", b"1") as one:
        ends[0].send({"do": "open"}, [one])


def test_a_file_holds_what_it_was_given() -> None:
    data = np.arange(300_000, dtype=np.uint32).view(np.uint8)
    handle = filled_file("data", data)
    assert os.pread(handle, data.nbytes + 1, 0) == data.tobytes()
    os.close(handle)
