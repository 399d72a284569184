"""The channel between the judge and its child: records and files arrive; late, gone and malformed are told apart."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sandbox.gpu.child_channel import MAX_BYTES, ChildChannel, Closed, Late, Malformed
from sandbox.gpu.memory_file import shared_file


@dataclass(frozen=True)
class Parcel:
    number: int = 0
    text: str = ""


@dataclass(frozen=True)
class Empty:
    pass


@pytest.fixture
def ends() -> Iterator[tuple[ChildChannel, socket.socket]]:
    """A channel, and the other end as a bare socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ChildChannel(ours), theirs


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_message_and_its_files_arrive(ends: tuple[ChildChannel, socket.socket]) -> None:
    channel, before = ChildChannel(ends[1], takes_files=True), opened()
    with shared_file("one", b"12345") as first, shared_file("two", np.zeros(0, np.uint8)) as two:
        ends[0].send(Parcel(7, "x" * 100_000), [first, two])
        message, files = channel.receive((Empty, Parcel), 5)
    assert message == Parcel(7, "x" * 100_000)
    assert os.pread(files[0], 9, 0) == b"12345"  # although the sender has closed it
    assert os.fstat(files[1]).st_size == 1
    for handle in files:
        os.close(handle)
    assert opened() == before


@pytest.mark.parametrize("takes_files", [True, False])
def test_no_descriptor_stays_open_with_a_malformed_message_or_with_one_who_takes_none(
    ends: tuple[ChildChannel, socket.socket], takes_files: bool
) -> None:
    channel, before = ChildChannel(ends[1], takes_files), opened()
    with shared_file("one", b"12345") as shared:
        ends[0].send(Empty(), [shared])
        with pytest.raises(Malformed):
            channel.receive((Parcel,), 5)
        ends[0].send(Empty(), [shared] if not takes_files else [])
        assert channel.receive((Empty,), 5) == (Empty(), [])
    assert opened() == before


def test_messages_follow_each_other(ends: tuple[ChildChannel, socket.socket]) -> None:
    sender, receiver = ends[0], ChildChannel(ends[1])
    thread = threading.Thread(target=lambda: [sender.send(Parcel(n, "x" * 300_000)) for n in range(5)])
    thread.start()
    assert [receiver.receive((Parcel,), 5)[0].number for _ in range(5)] == list(range(5))
    thread.join()


@pytest.mark.parametrize("begun", [b"", b"\x05\0", (100).to_bytes(8, "little") + b'{"half": '])
def test_what_does_not_come_is_late(ends: tuple[ChildChannel, socket.socket], begun: bytes) -> None:
    ends[1].sendall(begun)
    with pytest.raises(Late):
        ends[0].receive((Parcel,), 0.05)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(8, "little") + body


def framed_json(kind: object, fields: object, **more: object) -> bytes:
    return framed(json.dumps({"kind": kind, "fields": fields, **more}).encode())


WHOLE = {"number": 1, "text": "a"}


@pytest.mark.parametrize(
    "message",
    [
        framed(b"no json"),
        framed(b"[1]"),
        framed(b"[" * 100_000),
        framed(b"9" * 5000),
        (MAX_BYTES + 1).to_bytes(8, "little"),
        framed_json("Other", WHOLE),
        framed_json("Empty", {}),
        framed_json(["Parcel"], WHOLE),
        framed_json("Parcel", [1, "a"]),
        framed_json("Parcel", {"number": 1}),
        framed_json("Parcel", {**WHOLE, "more": 1}),
        framed_json("Parcel", {**WHOLE, "number": "1"}),
        framed_json("Parcel", {**WHOLE, "number": True}),
        framed_json("Parcel", {**WHOLE, "number": 1.0}),
        framed_json("Parcel", {**WHOLE, "text": None}),
        framed_json("Parcel", WHOLE, files=3),
    ],
)
def test_another_message_than_the_one_expected_is_malformed(
    ends: tuple[ChildChannel, socket.socket], message: bytes
) -> None:
    ends[1].sendall(message)
    with pytest.raises(Malformed):
        ends[0].receive((Parcel,), 5)


def test_a_message_that_breaks_off_closes(ends: tuple[ChildChannel, socket.socket]) -> None:
    ends[1].sendall(b"\x05\0")
    ends[1].shutdown(socket.SHUT_WR)
    with pytest.raises(Closed):
        ends[0].receive((Parcel,), 5)


def test_an_end_that_is_gone_is_reported(ends: tuple[ChildChannel, socket.socket]) -> None:
    ends[1].close()
    with pytest.raises(Closed):
        ends[0].receive((Parcel,), 5)
    with pytest.raises(Closed), shared_file("one", b"1") as shared:
        ends[0].send(Empty(), [shared])
