"""The live page of a ledger in a thread of this process, behind its gate, on a free port."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from app.live_page import PageServer
from app.mounted_page import page_app
from app.settings import Settings
from page.gate import Gate
from page.sheets import Extras, Machine, MachineRow, Rates
from page.web import Site, application
from records.artefacts import ArtefactStore
from records.ledger import Ledger

TOKEN = "token-of-this-test"
RATES = Rates(
    "fp32_vector",
    163.4,
    {"hbm": 5.3, "mall": 17.2, "l2": 34.4},
    {"rows=8192,cols=1024": 41943040.0, "rows=8192,cols=4096": 167772160.0, "rows=2048,cols=16384": 167772160.0},
    {"rows=8192,cols=1024": 67108864.0, "rows=8192,cols=4096": 268435456.0, "rows=2048,cols=16384": 268435456.0},
)


def some_machine(source: str, tunables: Mapping[str, int]) -> Machine:
    """Three instructions, the second one in a loop."""
    rows = (
        MachineRow(1, "s_load_dword s8, s[0:1], 0x14", "smem"),
        MachineRow(2, "global_load_dwordx4 v[0:3], v[4:5], off", "vmem", ".LBB0_1", 1),
        MachineRow(2, "s_endpgm", "branch"),
    )
    return Machine({"row_softmax": rows})


@dataclass(frozen=True)
class Served:
    """A page that is being served."""

    port: int
    address: str  # with the token
    stop: Callable[[], None]


@contextlib.contextmanager
def served(folder: Path, port: int = 0, token: str = TOKEN) -> Iterator[Served]:
    """Serve the ledger of a folder."""
    words = Extras("Softmax of each row", "y = softmax(x)", "AMD Instinct MI300X", RATES, {"python": "3.11"})
    with Ledger(folder / "ledger.db") as ledger, socket.create_server(("127.0.0.1", port)) as door:
        ledger.forbid_writing()
        artefacts = ArtefactStore(folder / "artefacts", ledger)
        site = Site(ledger, artefacts, words, lambda run: words, lambda run: some_machine)
        bound = door.getsockname()[1]
        gate = Gate(application(lambda: site), token, frozenset({f"127.0.0.1:{bound}"}))
        server = PageServer(uvicorn.Config(gate, log_level="error", lifespan="off", ws="none"), site)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join()

        try:
            yield Served(bound, f"http://127.0.0.1:{bound}/?token={token}", stop)
        finally:
            stop()


@contextlib.contextmanager
def mounted(folder: Path, path: str) -> Iterator[str]:
    """Serve the page of a folder as a part of another application; its address, without the last slash."""
    outer = Starlette(routes=[Mount(path, page_app(Settings(runs_folder=folder)))])
    server = uvicorn.Server(uvicorn.Config(outer, log_level="error", ws="none", timeout_graceful_shutdown=1))
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}{path}"
        finally:
            server.should_exit = True
            thread.join()
