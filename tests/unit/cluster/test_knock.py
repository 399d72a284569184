"""What listens at an address that should be a Ray head's: nothing, something else, something that says nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cluster.knock import PREFACE, SETTINGS, fault_at, is_plain

OWN_SETTINGS = bytes([0, 0, 6, SETTINGS, 0, 0, 0, 0, 0]) + bytes(6)


@contextmanager
def door(*said: bytes) -> Iterator[str]:
    """The address of a program that sends this to whoever comes, and then ends or waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                for words in said:
                    assert peer.recv(len(PREFACE), socket.MSG_WAITALL) == PREFACE
                    peer.sendall(words)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def test_a_head_answers_with_its_settings() -> None:
    with door(OWN_SETTINGS) as address:
        assert fault_at(address) == ""


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n", b"\0"])
def test_another_program_is_told_from_a_head(said: bytes) -> None:
    with door(said) as address:
        assert fault_at(address) == "another program listens there"


def test_a_program_that_hangs_up_is_no_head() -> None:
    with door() as address:
        assert fault_at(address) in ("another program listens there", "Connection reset by peer", "Broken pipe")


def test_one_that_says_nothing_is_waited_for_no_longer_than_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert fault_at(f"127.0.0.1:{silent.getsockname()[1]}", 0.05) == "nothing is answered there"


@pytest.mark.parametrize("address", ["127.0.0.1:1", "[::1]:1", "no-such-host.invalid:6379", "127.0.0.1:99999", "x:y"])
def test_an_address_where_nobody_is_has_a_reason(address: str) -> None:
    assert fault_at(address)


def test_a_head_with_tls_and_a_server_for_clients_are_left_to_ray() -> None:
    assert is_plain({}) and is_plain({"RAY_USE_TLS": "0", "RAY_ADDRESS": "127.0.0.1:6379"})
    assert not is_plain({"RAY_USE_TLS": "1"}) and not is_plain({"RAY_ADDRESS": "ray://127.0.0.1:10001"})
