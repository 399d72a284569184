"""The live page: a run's data as JSON, and what is new as server-sent events keyed on the ledger's rows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from page.cleaning import as_json, json_of
from page.run_reader import RunReader
from page.sheets import Disassemble, Extras
from page.single_file import script, served_shell, style
from records.artefacts import ArtefactStore
from records.codec import to_plain
from records.errors import MachineError, ScientistError, UsageError
from records.experiment import Run
from records.ledger import Ledger

POLL_S = 0.4  # between two looks for new rows
QUIET_S = 15.0  # after which a stream without news says that it is alive
BATCH = 500  # rows in one look: a page that was away for long catches up step by step


@dataclass(frozen=True)
class News:
    """One message of a stream. Its id is the row of the ledger, so that a broken stream goes on where it ended."""

    name: str
    data: str
    row: int = 0  # 0 where it is no row

    @property
    def text(self) -> str:
        """The message as it is sent."""
        return f"{f'id: {self.row}' + chr(10) if self.row else ''}event: {self.name}\ndata: {self.data}\n\n"


@dataclass
class Site:
    """The runs of one ledger, each with the reader that remembers what it read."""

    ledger: Ledger
    artefacts: ArtefactStore
    blot: Extras  # texts to redact where no run is at hand
    extras: Callable[[Run], Extras]
    disassembles: Callable[[Run], Disassemble]
    stream_s: float = float("inf")  # how long one stream lasts; the browser then asks for the next one by itself
    ends: threading.Event = field(default_factory=threading.Event)  # set when the server is to end: streams stop
    _readers: dict[str, RunReader] = field(default_factory=dict)
    _heads: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _compiling: threading.Lock = field(default_factory=threading.Lock)

    def reader(self, run_id: str) -> RunReader:
        """Open the reader of a run; UsageError where there is none of exactly this id."""
        run = self.ledger.run(run_id)
        if run.id != run_id:
            raise UsageError(f"there is no run {run_id!r}")
        with self._lock:
            if run_id not in self._readers:
                self._readers[run_id] = RunReader(self.ledger, self.artefacts, run_id, self.extras(run))
            return self._readers[run_id]

    def runs(self) -> str:
        """All runs, newest first; those that did not change are not read again."""
        heads, runs = list[Any](), self.ledger.runs()
        states = self.ledger.states(runs)
        for run in reversed(runs):
            state = (states[run.id], run.pause, run.extensions, self.ledger.last_event(run.id))
            cached = self._heads.get(run.id)
            if cached is None or cached[0] != state:
                head = RunReader(self.ledger, self.artefacts, run.id).head()
                cached = self._heads[run.id] = (state, to_plain(head))
            heads.append(cached[1])
        return json_of({"runs": heads, "row": self.ledger.last_event()}, self.blot)

    def machine(self, run_id: str, candidate_id: str) -> str:
        """Machine code of a candidate. One compilation at a time: a page must not take the processor from a run."""
        reader = self.reader(run_id)
        source, tunables = reader.source_of(candidate_id)
        with self._compiling:
            machine = self.disassembles(self.ledger.run(run_id))(source, tunables)
        return as_json(machine, reader.extras)

    def news(self, run_id: str, after: int) -> list[News]:
        """Rows after this one; of all runs only that there are some."""
        if not run_id:
            last = self.ledger.last_event()
            return [News("runs", json_of({"row": last}, self.blot), last)] if last > after else []
        extras, events = self.reader(run_id).extras, self.ledger.events(run_id, after)[:BATCH]
        return [News("row", json_of(to_plain(e), extras), e.number) for e in events]

    def standing(self, run_id: str) -> str:
        """Write the state of a run, or of all, which changes without an event, and also where its process dies."""
        runs = [self.ledger.run(run_id)] if run_id else self.ledger.runs()
        states = self.ledger.states(runs)
        return json_of([[r.id, states[r.id], r.pause, r.stop_reason] for r in runs], self.blot)


def application(site: Callable[[], Site]) -> Starlette:
    """Make the routes. Only GET; what is behind them reads and never writes. `site` may open the records."""

    async def runs(request: Request) -> Response:
        return await _answer(lambda: site().runs())

    async def run(request: Request) -> Response:
        return await _answer(lambda: _as_text(site(), request, lambda reader: reader.book()))

    async def candidate(request: Request) -> Response:
        return await _answer(lambda: _as_text(site(), request, lambda r: r.sheet(request.path_params["candidate"])))

    async def source(request: Request) -> Response:
        return await _answer(lambda: _as_text(site(), request, lambda r: r.text_of(request.path_params["candidate"])))

    async def call(request: Request) -> Response:
        return await _answer(lambda: _as_text(site(), request, lambda r: r.call(request.path_params["number"])))

    async def machine(request: Request) -> Response:
        return await _answer(lambda: site().machine(request.path_params["run"], request.path_params["candidate"]))

    async def events(request: Request) -> Response:
        run_id, after = request.query_params.get("run", ""), _row(request)
        first = await _answer(lambda: site().standing(run_id))
        if first.status_code != 200:
            return first
        return StreamingResponse(_stream(site(), run_id, after), media_type="text/event-stream")

    return Starlette(
        routes=[
            *_documents(),
            Route("/api/runs", runs),
            Route("/api/runs/{run}", run),
            Route("/api/runs/{run}/candidates/{candidate}", candidate),
            Route("/api/runs/{run}/candidates/{candidate}/machine", machine),
            Route("/api/runs/{run}/candidates/{candidate}/source", source),
            Route("/api/runs/{run}/calls/{number:int}", call),
            Route("/api/events", events),
        ]
    )


def _documents() -> list[Route]:
    """Make the routes of the page itself, which holds no data."""

    async def document(request: Request) -> Response:
        return Response(served_shell(), media_type="text/html")

    async def css(request: Request) -> Response:
        return Response(style(), media_type="text/css")

    async def js(request: Request) -> Response:
        return Response(script(), media_type="text/javascript")

    return [
        Route("/", document),
        Route("/page.css", css),
        Route("/page.js", js),
        Route("/favicon.ico", lambda request: Response(status_code=204)),
    ]


async def _stream(site: Site, run_id: str, after: int) -> AsyncIterator[str]:
    """Rows as they come, and the status where it changes; a comment now and then keeps the connection."""
    standing, quiet_s, end = "", 0.0, time.monotonic() + site.stream_s
    yield "retry: 1000\n\n"
    while not site.ends.is_set() and time.monotonic() < end:
        try:
            unsent = await run_in_threadpool(site.news, run_id, after)
            now = await run_in_threadpool(site.standing, run_id)
        except ScientistError:
            return  # the browser asks again, and is then told why
        if now != standing:
            unsent.append(News("standing", now))
            standing = now
        for news in unsent:
            after = max(after, news.row)
            yield news.text
        quiet_s = 0.0 if unsent else quiet_s + POLL_S
        if quiet_s >= QUIET_S:
            quiet_s = 0.0
            yield ": quiet\n\n"
        await asyncio.sleep(POLL_S)


def _row(request: Request) -> int:
    """Find the row after which the page wants news: where its connection broke, else where its data end."""
    row = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    return int(row) if row.isascii() and row.isdigit() and len(row) < 16 else 0


def _as_text(site: Site, request: Request, read: Callable[[RunReader], Any]) -> str:
    reader = site.reader(request.path_params["run"])
    return as_json(read(reader), reader.extras)


async def _answer(read: Callable[[], str]) -> Response:
    """JSON, or a sentence with the status of a fault."""
    try:
        return Response(await run_in_threadpool(read), media_type="application/json")
    except UsageError as error:
        return _sentence(404, error)
    except MachineError as error:
        return _sentence(503, error)


def _sentence(status: int, error: ScientistError) -> Response:
    return Response(json_of({"error": str(error)}, Extras()), status, media_type="application/json")
