"""One HTTP request with a deadline for all of it, and a bound on what is read: a byte a second passes neither.

Time-outs of HTTP clients are for each read, so that a server that sends a byte from time to time is waited for without
end. Here a timer cuts the connection itself. A connection is used once: what waits for minutes gains nothing from one
that is kept, and a server that closed it in the meantime looks like a fault.
"""

from __future__ import annotations

import contextlib
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.model.endpoint import Endpoint
from agents.model.faults import Fault
from records.stopping import StopSignal

if TYPE_CHECKING:
    import socket

    import httpx

MOST_BYTES = 16 << 20
CONNECT_S = 30.0
GRACE_S = 1.0  # after a stop: an answer that is paid for may be about to come
USER_AGENT = "gpu-kernel-scientist"


@dataclass(frozen=True)
class HttpAnswer:
    """A response as it came, whatever its status. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


class Exchange:
    """Requests to one endpoint, from any number of threads."""

    def __init__(self, endpoint: Endpoint, stop: StopSignal | None = None) -> None:
        """Nothing is imported and nothing is sent yet. An answer is waited for `GRACE_S` after the stop, no longer."""
        self._endpoint, self._stop = endpoint, stop or StopSignal()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, path: str, body: bytes, deadline_s: float) -> HttpAnswer:
        """Send a document; Fault where no whole response came in time."""
        return self._send("POST", path, body, deadline_s)

    def get(self, path: str, deadline_s: float) -> HttpAnswer:
        """Ask for a document; Fault where no whole response came in time."""
        return self._send("GET", path, b"", deadline_s)

    def _send(self, method: str, path: str, body: bytes, deadline_s: float) -> HttpAnswer:
        import httpx

        line, began = _Line(), time.monotonic()
        timer = threading.Timer(deadline_s, line.cut)
        timer.daemon = True
        timer.start()
        try:
            with self._stop.cutting(line.cut, GRACE_S):
                return self._read(method, path, body, deadline_s, line, began)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError, ValueError) as error:
            raise fault_of(error, line.is_cut or time.monotonic() - began >= deadline_s, line.is_open) from None
        finally:
            timer.cancel()

    def _read(self, method: str, path: str, body: bytes, deadline_s: float, line: _Line, began: float) -> HttpAnswer:
        import httpx

        read, size = list[bytes](), 0
        wait = httpx.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s))
        request = self._opened().build_request(
            method, self._url(path), content=body or None, headers=self._headers(), timeout=wait
        )
        request.extensions["trace"] = line.trace
        response = self._opened().send(request, stream=True, follow_redirects=True)
        try:
            for chunk in response.iter_bytes():
                read.append(chunk)
                size += len(chunk)
                if size > MOST_BYTES:
                    raise Fault(
                        "odd", f"an answer of more than {MOST_BYTES >> 20} MiB", response.status_code, is_sent=True
                    )
                if line.is_cut:
                    raise httpx.ReadTimeout("the deadline has passed")
        finally:
            response.close()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpAnswer(response.status_code, headers, b"".join(read), time.monotonic() - began)

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                import httpx

                limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
                self._client = httpx.Client(limits=limits, headers={"User-Agent": USER_AGENT}, max_redirects=3)
            return self._client

    def _url(self, path: str) -> str:
        """Return the address with the path before its query, which some services want."""
        base, mark, query = self._endpoint.base_url.partition("?")
        return f"{base.rstrip('/')}{path}{mark}{query}"

    def _headers(self) -> dict[str, str]:
        key = self._endpoint.key_to_send.get_secret_value()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        # An address with a user and a password is signed in with these, by the client.
        return (
            headers if "@" in self._endpoint.base_url.split("/")[2] else {**headers, "Authorization": f"Bearer {key}"}
        )


class _Line:
    """The connection of one request, as far as it is known, so that it can be cut from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_cut = False
        self.is_open = False  # whether a connection was made, so that the request may have arrived

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Note the socket of each new connection; a hook of httpcore."""
        if name.endswith("send_request_headers.started"):
            self.is_open = True
        stream: Any = info.get("return_value") if name.endswith(".complete") else None
        connection = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
        if connection is None:
            return
        with self._lock:
            self._socket = connection
            if self.is_cut:
                self._shut()

    def cut(self) -> None:
        """End the connection: whoever reads from it is woken."""
        with self._lock:
            self.is_cut = True
            self._shut()

    def _shut(self) -> None:
        import socket

        if self._socket is not None:
            with contextlib.suppress(OSError):  # it may have ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)


def fault_of(error: BaseException, is_late: bool, is_open: bool) -> Fault:
    """Name the fault of a request that brought no response."""
    if isinstance(error, Fault):
        return error
    if is_late:
        return Fault("late", "timed out", is_sent=is_open)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Fault("account", f"its certificate is not valid: {cause.verify_message}")
        cause = cause.__cause__ or cause.__context__
    name = type(error).__name__
    if isinstance(error, UnicodeError):
        return Fault("account", "the key or the address holds characters that no request can")
    if name in ("InvalidURL", "UnsupportedProtocol", "TooManyRedirects", "LocalProtocolError", "ValueError"):
        return Fault("account", f"the address or the key cannot be used, {name}")
    if "Timeout" in name:
        return Fault("passing", "timed out", is_sent=is_open)
    return Fault("passing", f"no connection, {name}", is_sent=is_open)
