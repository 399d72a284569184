"""Every way of cancelling a run ends in the same signal: nothing is asked of the sandbox afterwards, and it goes on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.author import Specimen, Step
from graph import build_graph
from records.errors import RunStopped
from records.ledger import Ledger
from tests.support.scripted_run import Bench, faster
from tests.support.served import ASKED, Server


class Waiting:
    """A writer that is at work, once, until its run is stopped, and then hands in its kernel all the same."""

    def __init__(self) -> None:
        self.begun, self.is_first = threading.Event(), True
        self.is_stopped: Callable[[], bool] = lambda: False

    def __call__(self, step: Step, base: Specimen) -> str:
        if self.is_first:
            self.begun.set()
            while not self.is_stopped():
                time.sleep(0.005)
            self.is_first = False
        return faster(step, base)


def waiting(folder: Path) -> tuple[Bench, Waiting]:
    writer = Waiting()
    bench = Bench(folder, writer, picks=1)
    writer.is_stopped = lambda: bench.context.stop.is_asked
    return bench, writer


async def _cancelled(start: Callable[[], Any], writer: Waiting) -> None:
    task = asyncio.ensure_future(start())
    while not writer.begun.is_set():
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("way", ["ainvoke", "astream"])
def test_a_cancelled_task_stops_its_run_which_goes_on_later(tmp_path: Path, way: str) -> None:
    bench, writer = waiting(tmp_path)
    graph = build_graph().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}

    async def streamed() -> None:
        async for _ in graph.astream({"run_id": bench.context.run.id}, config, context=bench.context):
            pass

    async def both() -> dict[str, Any]:
        invoked: Any = lambda: graph.ainvoke({"run_id": bench.context.run.id}, config, context=bench.context)  # noqa: E731
        await _cancelled(invoked if way == "ainvoke" else streamed, writer)
        asked = len(bench.sandbox.calls)
        assert not any(a.generation for a in bench.attempts().values())
        await asyncio.sleep(0.1)
        assert len(bench.sandbox.calls) == asked
        return dict(await graph.ainvoke(None, config, context=bench.context))

    state = asyncio.run(both())
    assert state["best_id"].startswith("g001") and state["stop"]


def test_another_process_stops_a_run_through_the_ledger(tmp_path: Path) -> None:
    bench, writer = waiting(tmp_path)

    def stop() -> None:
        writer.begun.wait()
        bench.context.ledger.ask_stop(bench.context.run.id)

    threading.Thread(target=stop).start()
    with pytest.raises(RunStopped):
        bench.drive()
    run = bench.context.ledger.run(bench.context.run.id)
    assert (run.status, run.pause) == ("paused", "interrupted")
    assert bench.drive().status == "done"


@pytest.mark.parametrize("way", ["cancelled", "ledger"])
def test_a_served_run_is_stopped_and_its_thread_goes_on(tmp_path: Path, way: str) -> None:
    writer = Waiting()
    server = Server(tmp_path, writer)

    def stop() -> None:
        writer.begun.wait()
        with Ledger(tmp_path / "runs" / "ledger.db") as ledger:
            ledger.ask_stop(ledger.runs()[0].id)

    def is_stopped() -> bool:
        return any(run.context.stop.is_asked for run in server.service._opened.values())

    async def both() -> dict[str, Any]:
        writer.is_stopped = is_stopped
        start = lambda: server.graph.ainvoke(ASKED, server.thread("t"))  # noqa: E731
        if way == "cancelled":
            await _cancelled(start, writer)
        else:
            threading.Thread(target=stop).start()
            with pytest.raises(RuntimeError, match="resume"):
                await start()
        run = server.ledger().runs()[0]
        assert (run.status, run.pause) == ("paused", "interrupted")
        return dict(await server.graph.ainvoke(None, server.thread("t")))

    assert asyncio.run(both())["result"]["best"]
