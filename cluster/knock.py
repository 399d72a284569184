"""First words with a Ray head, before Ray joins it: Ray itself tries for more than a minute where none is."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping

CONNECT_S = 3.0
ANSWER_S = 10.0  # a head that is busy answers late
SETTINGS = 4  # the kind of the frame that each end of HTTP/2 sends first
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, SETTINGS, 0, 0, 0, 0, 0])
FRAME_BYTES = 9  # of a frame's head


def fault_at(address: str, answer_s: float = ANSWER_S) -> str:
    """Find the reason why no head answers at HOST:PORT; empty where one does."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S) as head:
            head.settimeout(answer_s)
            head.sendall(PREFACE)
            received = b""
            while len(received) < FRAME_BYTES and (more := head.recv(FRAME_BYTES - len(received))):
                received += more
    except TimeoutError:
        return "nothing is answered there"
    except (OSError, ValueError, OverflowError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if len(received) == FRAME_BYTES and received[3] == SETTINGS else "another program listens there"


def is_plain(environment: Mapping[str, str]) -> bool:
    """Say whether heads are spoken to without TLS and not through Ray's server for clients; else only Ray can ask."""
    return environment.get("RAY_USE_TLS", "0") == "0" and "://" not in environment.get("RAY_ADDRESS", "")


def known_address() -> str:
    """HOST:PORT of the cluster that Ray would join from this machine by itself; empty where only Ray could say.

    It is from RAY_ADDRESS, a process of Ray, or the file that the last `ray start` has left, which stays when the
    cluster ends.
    """
    with contextlib.suppress(Exception):  # of Ray's own inside, which may change: then Ray is asked as before
        from ray._private.services import canonicalize_bootstrap_address

        return str(canonicalize_bootstrap_address("auto") or "")
    return ""
