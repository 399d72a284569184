"""Messages between a served worker and those who ask it: whole JSON objects, signed and numbered.

Both ends prove that they know the token, without sending it; after that every message carries an HMAC over a key of
this connection, its direction and its number, so that none can be altered, repeated or left out. What is sent can be
read on the way: where that matters, tunnel it. A stranger can cost a thread for ten seconds and 4 KiB, no more.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import stat
import time
from pathlib import Path
from typing import Any

from records.errors import SettingsError, SpoolError
from sandbox.remote.message import FORMAT, MOST_BYTES

GREETING_BYTES = 4096  # before the token is proved
GREETING_S = 10.0  # for all of the greeting, however it is cut into pieces
SILENCE_S = 60.0  # without a word, after which the other end counts as lost
LEAST_TOKEN = 16  # characters
_MAC_BYTES = 32


def read_token(path: Path, secret_name: str = "token") -> str:
    """Read the token, or another secret, from a file that only its owner may read; SettingsError for another."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise SettingsError(f"the {secret_name} file {path} can be read by others; run: chmod 600 {path}")
        return checked_token(path.read_text(encoding="utf-8"), secret_name)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the {secret_name} file {path} cannot be read ({error})") from None


def checked_token(text: str, secret_name: str = "token") -> str:
    """Strip the space around a secret; SettingsError for one that could be guessed."""
    token = text.strip()
    if len(token) < LEAST_TOKEN:
        raise SettingsError(
            f"a worker's {secret_name} needs at least {LEAST_TOKEN} characters; make one with: "
            "python3 -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return token


def parse_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`; SettingsError for another form."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise SettingsError(f"a worker's address is HOST:PORT, not {text[:80]!r}")
    return host.strip("[]"), int(port)


class Disconnected(SpoolError):
    """The other end closed the connection."""


class SignedChannel:
    """One connection, either end. Every method raises SpoolError, which says what is wrong with the other end."""

    def __init__(self, connection: socket.socket, other: str) -> None:
        """`other` names the other end in sentences."""
        self._connection, self.other = connection, other
        self._key = b""
        self._sent = self._received = 0
        self._mine, self._theirs = b"", b""
        self._until = 0.0  # the end of the greeting

    def close(self) -> None:
        """End it; ending twice is fine."""
        self._connection.close()

    def greet(self, token: str, is_server: bool) -> None:
        """Prove the token to each other; SpoolError when the other end cannot."""
        nonce = secrets.token_hex(32)
        self._until = time.monotonic() + GREETING_S
        if is_server:
            self.send({"service": "kernel-scientist worker", "format": FORMAT, "nonce": nonce})
            answer = self.receive()
            nonces = f"{nonce}|{answer.get('nonce')}"
            if not hmac.compare_digest(_bytes(answer.get("proof")), _proof(token, "asker", nonces)):
                self.send({"refused": True})
                raise SpoolError(f"{self.other} did not prove the token")
            self.send({"proof": _proof(token, "worker", nonces).decode()})
        else:
            hello = self.receive()
            if hello.get("format") != FORMAT:
                raise SpoolError(
                    f"{self.other} is no worker of this version of the program; use one version on both sides"
                )
            nonces = f"{hello.get('nonce')}|{nonce}"
            self.send({"nonce": nonce, "proof": _proof(token, "asker", nonces).decode()})
            answer = self.receive()
            if answer.get("refused"):
                raise SpoolError(
                    f"{self.other} refused the token; set KERNEL_SCIENTIST_WORKER_TOKEN to the one in its --token-file"
                )
            if not hmac.compare_digest(_bytes(answer.get("proof")), _proof(token, "worker", nonces)):
                raise SpoolError(f"{self.other} does not know the token, so it is not your worker; check the address")
        self._key = _proof(token, "session", nonces)
        self._mine, self._theirs = (b"worker", b"asker") if is_server else (b"asker", b"worker")
        self._sent = self._received = 0

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        data = json.dumps(message, separators=(",", ":")).encode()
        if len(data) > self._limit():
            raise SpoolError(f"a message of {len(data)} bytes is too large for {self.other}")
        try:
            self._connection.settimeout(SILENCE_S if self._key else self._left_s())
            self._connection.sendall(len(data).to_bytes(4, "big") + self._mac(self._mine, self._sent, data) + data)
        except OSError as error:
            raise self._lost(error) from None
        self._sent += 1

    def receive(self, timeout_s: float = SILENCE_S) -> dict[str, Any]:
        """Wait for the next message, and check its signature and number."""
        size = int.from_bytes(self._exactly(4, timeout_s), "big")
        if size > self._limit():
            raise SpoolError(f"{self.other} sent a message of {size} bytes, which is too large")
        mac, data = self._exactly(_MAC_BYTES, timeout_s), self._exactly(size, timeout_s)
        if not hmac.compare_digest(mac, self._mac(self._theirs, self._received, data)):
            raise SpoolError(f"a message of {self.other} was altered on the way; check the network between")
        self._received += 1
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise SpoolError(f"{self.other} does not speak as a worker does; check the address")
        return message

    def _limit(self) -> int:
        return MOST_BYTES if self._key else GREETING_BYTES

    def _mac(self, direction: bytes, number: int, data: bytes) -> bytes:
        if not self._key:
            return bytes(_MAC_BYTES)
        return hmac.digest(self._key, direction + number.to_bytes(8, "big") + data, "sha256")

    def _left_s(self) -> float:
        """Time that is left for the greeting."""
        return max(0.001, self._until - time.monotonic())

    def _exactly(self, count: int, timeout_s: float) -> bytes:
        """Receive so many bytes; a stranger has the greeting's rest for them, others `timeout_s` for each piece."""
        parts = bytearray()
        while len(parts) < count:
            try:
                self._connection.settimeout(timeout_s if self._key else self._left_s())
                part = self._connection.recv(min(1 << 20, count - len(parts)))
            except OSError as error:
                raise self._lost(error) from None
            if not part:
                raise Disconnected(f"{self.other} closed the connection; start it again, then resume the run")
            parts += part
        return bytes(parts)

    def _lost(self, error: OSError) -> SpoolError:
        return SpoolError(f"{self.other} was lost ({error.strerror or error}); start it again, then resume the run")


def _proof(token: str, role: str, nonces: str) -> bytes:
    return hmac.new(token.encode(), _bytes(f"{role}|{nonces}"), hashlib.sha256).hexdigest().encode()


def _bytes(value: object) -> bytes:
    """Encode a stranger's value, whatever it is."""
    return str(value).encode("utf-8", "replace")
