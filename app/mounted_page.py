"""The live page as a part of somebody's own server: `Mount("/scientist", page_app())`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount

from app.disassembly import disassembler
from app.machine import describe
from app.pages import extras_of
from app.settings import Settings, load_settings
from app.wiring import open_records
from page.gate import Shield
from page.sheets import Extras
from page.web import Site, application

if TYPE_CHECKING:
    from records.artefacts import ArtefactStore
    from records.ledger import Ledger

MOUNTED_STREAM_S = 20.0  # a server that ends waits for open streams, and does not say so to them


def page_app(settings: Settings | None = None) -> Starlette:
    """Make the live page as an application that another one mounts, and that says who may reach it.

    Settings are read, and the records opened, by the first request. All addresses in it are relative.
    """
    opening, opened = threading.Lock(), list[Site]()

    def site() -> Site:
        with opening:
            if not opened:
                current = settings or load_settings()
                opened.append(site_of(current, *open_records(current, create=True), MOUNTED_STREAM_S))
            return opened[0]

    return Starlette(routes=[Mount("/", app=Shield(application(site)))])


def site_of(settings: Settings, ledger: Ledger, artefacts: ArtefactStore, stream_s: float = float("inf")) -> Site:
    """Make the site of a ledger, whose connection can read only from then on."""
    ledger.forbid_writing()
    environment = describe(settings)
    return Site(
        ledger,
        artefacts,
        Extras(secrets=settings.secrets(), home=str(Path.home())),
        lambda run: extras_of(settings, run, environment),
        lambda run: disassembler(settings, run, compiles=True),
        stream_s,
    )


# For langgraph.json: beside the routes of LangGraph's own server. Nothing is opened before the first request.
app = Starlette(routes=[Mount("/scientist", app=page_app())])
