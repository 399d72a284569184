"""One request and the ways in which it brings nothing: deadlines hold for all of it, and each fault has its class."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from agents.model.endpoint import Endpoint
from agents.model.exchange import MOST_BYTES, Exchange
from agents.model.faults import Fault

HEAD = b"HTTP/1.1 200 OK\r\n"
PAUSE_S, DEADLINE_S = 0.05, 0.4


@contextmanager
def serving(act: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of raw bytes, for one request after the other."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve() -> None:
            while True:
                with suppress(OSError):
                    connection, _ = listener.accept()
                    with closing(connection):
                        connection.recv(1 << 16)
                        act(connection)
                    continue
                return

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def dripping(text: bytes) -> Callable[[socket.socket], None]:
    def act(connection: socket.socket) -> None:
        for number in range(len(text)):
            connection.sendall(text[number : number + 1])
            threading.Event().wait(PAUSE_S)

    return act


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def flood(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"\r\n")
    while True:
        connection.sendall(b"a" * (1 << 20))


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (dripping(HEAD + b"Content-Length: 99\r\n\r\n" + b"{" * 99), "late"),
        (dripping(HEAD + b"X: " + b"a" * 999), "late"),
        (lambda connection: threading.Event().wait(2 * DEADLINE_S), "late"),
        (lambda connection: connection.sendall(HEAD + b"Content-Length: 99\r\n\r\nabc"), "passing"),
        (lambda connection: connection.sendall(b"no http at all\r\n\r\n"), "passing"),
        (lambda connection: None, "passing"),
        (reset, "passing"),
        (flood, "odd"),
    ],
)
def test_what_brings_nothing_has_its_class_and_may_be_billed(act: Callable[[socket.socket], None], kind: str) -> None:
    with serving(act) as url, pytest.raises(Fault) as caught:
        deadline_s = DEADLINE_S if kind == "late" else 60 * DEADLINE_S  # which a loaded machine keeps as well
        Exchange(Endpoint(url, "m")).post("/chat/completions", b"{}", deadline_s)
    assert (caught.value.kind, caught.value.is_sent) == (kind, True)


def test_where_nobody_listens_nothing_is_billed() -> None:
    with pytest.raises(Fault) as caught:
        Exchange(Endpoint("http://127.0.0.1:9/v1", "m")).post("/chat/completions", b"{}", 5.0)
    assert (caught.value.kind, caught.value.is_sent) == ("passing", False)


def test_a_whole_response_comes_as_it_is() -> None:
    with serving(lambda c: c.sendall(b"HTTP/1.1 418 no\r\nX-Two: 2\r\nContent-Length: 3\r\n\r\nabc")) as url:
        found = Exchange(Endpoint(url, "m")).post("/chat/completions", b"{}", 5.0)
    assert (found.status, found.headers["x-two"], found.body) == (418, "2", b"abc")


def test_an_address_keeps_its_query_behind_the_path() -> None:
    sent = list[bytes]()

    def act(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 0\r\n\r\n")

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with closing(connection):
                sent.append(connection.recv(1 << 16))
                act(connection)

        threading.Thread(target=serve, daemon=True).start()
        base = f"http://127.0.0.1:{listener.getsockname()[1]}/openai?api-version=7"
        Exchange(Endpoint(base, "m")).post("/chat/completions", b"{}", 5.0)
    assert sent[0].startswith(b"POST /openai/chat/completions?api-version=7 ")


def test_the_bound_on_an_answer_is_above_any_answer() -> None:
    assert MOST_BYTES >= 8 << 20
