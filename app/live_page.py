"""The live page on a socket: who may reach it, its token, and the server."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from contextlib import suppress

import uvicorn

from app.mounted_page import site_of
from app.screen import note, say
from app.settings import Settings
from app.wiring import open_records
from page.gate import Gate
from page.web import Site, application
from records.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LAST_WORDS_S = 3  # for streams that are open when the server ends


class PageServer(uvicorn.Server):
    """A server that ends the streams of its pages first, for they would keep it."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        """Made by `serve`."""
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then wait for the answers under way."""
        self._site.ends.set()
        await super().shutdown(sockets)


def serve(settings: Settings, host: str, port: int, opens: bool) -> None:
    """Serve until the keyboard interrupts; UsageError where the address cannot be listened on."""
    with listening(host, port) as door:
        ledger, artefacts = open_records(settings, create=True)
        with ledger:
            _serve(settings, site_of(settings, ledger, artefacts), host, door, opens)


def _serve(settings: Settings, site: Site, host: str, door: socket.socket, opens: bool) -> None:
    ledger = site.ledger
    token, bound = secrets.token_urlsafe(24), door.getsockname()[1]
    gate = Gate(application(lambda: site), token, frozenset(f"{name}:{bound}" for name in names_of(host)))
    address = f"http://{names_of(host)[-1]}:{bound}/?token={token}"
    store = settings.runs_folder if settings.database is None else ledger.engine.place
    say(f"the runs of {store} are shown at\n\n    {address}\n")
    if not ledger.runs():
        say("there are none yet; the first one appears there when it begins")
    if not is_loopback(host):
        note(
            f"kernel-scientist: other machines can reach {host}, and without encryption: whoever sees this address "
            "reads sources and prompts; `ssh -L` needs no --host"
        )
    say("Ctrl-C ends it; nothing can be changed through it")
    if opens:
        webbrowser.open(address)
    config = uvicorn.Config(
        gate,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=LAST_WORDS_S,
    )
    with suppress(KeyboardInterrupt):  # which the server hands on after it has ended
        PageServer(config, site).run(sockets=[door])


def names_of(host: str) -> tuple[str, ...]:
    """List the values of `Host` that name this page, without the port; the last one stands in its address."""
    if host in ("0.0.0.0", "::"):
        return (*LOOPBACK, socket.gethostname())
    return (*LOOPBACK, f"[{host}]" if ":" in host else host)


def is_loopback(host: str) -> bool:
    """Tell whether no other machine can reach this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int) -> socket.socket:
    """Open a socket that listens there; UsageError in one sentence where none can."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = socket.socket(family, kind, protocol)
        try:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address)
            door.listen()  # before its address is printed
        except BaseException:
            door.close()
            raise
        return door
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}, port {port} ({error.strerror}); choose another --port, 0 for any free one"
        ) from None
