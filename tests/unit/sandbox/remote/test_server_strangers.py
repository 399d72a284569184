"""Strangers at a served worker, on real sockets: whatever they do, the owner gets through."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.doubles import TableSandbox
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import answer
from sandbox.remote.message import Place, Request
from sandbox.remote.pending_connections import MOST_NOTES, MOST_OF_AN_ADDRESS, MOST_STRANGERS, PendingConnections
from sandbox.remote.server import ServedPost, Server
from tests.support.few import few
from tests.support.stations import make_bench, make_task

TOKEN = secrets.token_hex(32)
PLACE = Place("mi300x", "lab:table", "table 1")


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[tuple[str, int], list[str], Request]]:
    """A served worker's address, what it noted, and a question for it."""
    notes: list[str] = []
    task = make_task(folder)
    server = Server(("127.0.0.1", 0), TOKEN, make_bench(task, TableSandbox()), notes.append)
    stop = threading.Event()
    thread = threading.Thread(target=server.run, args=(stop,))
    thread.start()
    try:
        yield server.address, notes, Request("", "mi300x", "", 7, task.name, task.digest, "// time_us = 5\n")
    finally:
        stop.set()
        thread.join()


def quiet(stranger: socket.socket) -> None:
    """Says nothing."""


def garbage(stranger: socket.socket) -> None:
    stranger.sendall(secrets.token_bytes(3000))


def giant(stranger: socket.socket) -> None:
    stranger.sendall((1 << 31).to_bytes(4, "big") + bytes(1000))


def part_of_a_message(stranger: socket.socket) -> None:
    stranger.sendall((4000).to_bytes(4, "big") + bytes(32) + b"{" * 50)


def half_closed(stranger: socket.socket) -> None:
    stranger.shutdown(socket.SHUT_WR)


def nested(stranger: socket.socket) -> None:
    stranger.sendall((4000).to_bytes(4, "big") + bytes(32) + b"[" * 4000)


def wrong_proof(stranger: socket.socket) -> None:
    reply = b'{"nonce":"0","proof":"' + b"0" * 64 + b'"}'
    stranger.sendall(len(reply).to_bytes(4, "big") + bytes(32) + reply)


KINDS: list[Callable[[socket.socket], None]] = [
    *(quiet, garbage, giant, part_of_a_message, half_closed, nested, wrong_proof)
]


def attempt(address: tuple[str, int], kind: Callable[[socket.socket], None]) -> socket.socket:
    stranger = socket.create_connection(address, timeout=10)
    with contextlib.suppress(OSError):
        kind(stranger)
    return stranger


@pytest.mark.parametrize("kind", few(KINDS, 2, lambda kind: kind.__name__))
def test_seventy_strangers_do_not_lock_the_owner_out(tmp_path: Path, kind: Callable[[socket.socket], None]) -> None:
    with serving(tmp_path) as (address, notes, _), contextlib.ExitStack() as crowd:
        for _ in range(70):
            crowd.enter_context(attempt(address, kind))
        for _ in range(3):
            assert ServedPost(address, TOKEN).place("mi300x") == PLACE
        assert len(notes) <= MOST_NOTES


@pytest.mark.slow
def test_more_strangers_than_places_do_not_either(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _, _), contextlib.ExitStack() as crowd:
        for number in range(3 * MOST_STRANGERS):
            crowd.enter_context(attempt(address, KINDS[number % len(KINDS)]))
        assert ServedPost(address, TOKEN).place("mi300x") == PLACE


@pytest.mark.slow
def test_the_owner_gets_through_while_strangers_keep_coming(tmp_path: Path) -> None:
    """Several of them connect again and again, as fast as they can."""
    with serving(tmp_path) as (address, _, _):
        stop = threading.Event()

        def press() -> None:
            connections: list[socket.socket] = []
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    connections.append(attempt(address, quiet))
                while len(connections) > 30:
                    connections.pop(0).close()
            for connection in connections:
                connection.close()

        pressing = [threading.Thread(target=press) for _ in range(4)]
        for thread in pressing:
            thread.start()
        try:
            for _ in range(5):
                assert ServedPost(address, TOKEN).place("mi300x") == PLACE
        finally:
            stop.set()
            for thread in pressing:
                thread.join()


def test_a_request_is_answered_in_the_middle_of_them(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _, blank), contextlib.ExitStack() as crowd:
        for number in range(70):
            crowd.enter_context(attempt(address, KINDS[number % len(KINDS)]))
        post = ServedPost(address, TOKEN)
        purposes = ("compile",)
        request = Request(
            judge_digest(), "mi300x", post.id, 7, blank.task, blank.digest, blank.source, purposes=purposes
        )
        expected = answer(request, TableSandbox(), make_task(tmp_path / "again"), "worker-1", PLACE)
        assert post.ask(request).entries == expected.entries


def test_strangers_displace_each_other_and_those_of_the_fullest_address_first() -> None:
    pending, ends = PendingConnections(lambda text: None), list[socket.socket]()

    def come(address: str) -> socket.socket:
        mine, theirs = socket.socketpair()
        mine.settimeout(0)
        ends.extend((mine, theirs))
        pending.admit(theirs, address)
        return mine

    def is_out(end: socket.socket) -> bool:
        try:
            return end.recv(1) == b""
        except BlockingIOError:
            return False

    try:
        crowd = [come("10.0.0.1") for _ in range(MOST_OF_AN_ADDRESS)]
        other = come("10.0.0.2")
        assert not any(map(is_out, [*crowd, other]))
        come("10.0.0.1")
        assert [is_out(end) for end in crowd[:2]] == [True, False]
        many = [come(f"10.0.1.{number}") for number in range(MOST_STRANGERS - MOST_OF_AN_ADDRESS + 20)]
        assert not any(map(is_out, [other, *many]))
        assert sum(map(is_out, crowd)) == 22
    finally:
        for end in ends:
            end.close()


def test_a_flood_of_notes_is_cut() -> None:
    notes: list[str] = []
    pending = PendingConnections(notes.append)
    for number in range(1000):
        pending.report(str(number))
    assert notes[:MOST_NOTES] == [str(number) for number in range(MOST_NOTES)]
    assert len(notes) == MOST_NOTES + 10
