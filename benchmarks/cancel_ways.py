"""Five ways to cancel work, each with its real client: a signal, a command, LangGraph's SDK, MCP's, and asyncio."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from benchmarks.work_watch import now_s
from records.ledger import Ledger
from tasks.loader import load_task, seed_text

ROOT = Path(__file__).resolve().parent.parent
TASK = "row_softmax"
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"
COMMAND = (sys.executable, "-P", "-c", PROGRAM, str(ROOT))
RUN = ("run", TASK, "--on", "lab", "--author", "llm", "--generations", "50", "--quiet")
START_S = 60.0  # for a server to answer, or a run to be in the ledger
END_S = 60.0


@dataclass(frozen=True)
class Cancellable:
    """Work that has begun: the process that a person or a client talks to, and how the work is cancelled."""

    root: int
    cancel: Callable[[], float]  # gives the moment, in seconds since the machine started
    helpers: Callable[[], set[int]] = set  # processes of the client that are no work


@dataclass(frozen=True)
class Place:
    """Where runs are kept, and the environment of every program."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.folder / "runs"

    def started(self, words: tuple[str, ...], **more: Any) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own, as a terminal does."""
        with (self.folder / "log.txt").open("ab") as log:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **more}
            return subprocess.Popen(words, cwd=self.folder, env=self.environment, start_new_session=True, **streams)


@contextlib.contextmanager
def ctrl_c(place: Place) -> Iterator[Cancellable]:
    """Begin a run as on a terminal, whose whole group gets SIGINT."""
    with _running(place, (*COMMAND, *RUN)) as process:

        def cancel() -> float:
            os.killpg(process.pid, signal.SIGINT)
            return now_s()

        yield Cancellable(process.pid, cancel)


@contextlib.contextmanager
def stop_command(place: Place) -> Iterator[Cancellable]:
    """Begin a run that the command `stop` ends; the moment is that at which the command has written its request."""
    before = _runs(place)
    with _running(place, (*COMMAND, *RUN)) as process, contextlib.ExitStack() as stack:
        commands = list[subprocess.Popen[bytes]]()

        def cancel() -> float:
            _await(lambda: _runs(place) > before)
            [run_id] = _runs(place) - before
            commands.append(stack.enter_context(_running(place, (*COMMAND, "stop", run_id))))
            _await(lambda: _stops(place, run_id) > 0)
            return now_s()

        yield Cancellable(process.pid, cancel, lambda: {p.pid for p in commands})


@contextlib.contextmanager
def asyncio_cancel(place: Place) -> Iterator[Cancellable]:
    """Begin a program that streams a run with `astream` in a task, and cancels the task."""
    words = (sys.executable, "-m", "benchmarks.streaming_caller", TASK)
    with _running(place, words, stdin=subprocess.PIPE) as process:

        def cancel() -> float:
            assert process.stdin is not None
            process.stdin.write(b"cancel\n")
            process.stdin.flush()
            return now_s()

        yield Cancellable(process.pid, cancel)


class SdkCancel:
    """Runs of `langgraph dev`, cancelled by its SDK's client; one server for all."""

    def __init__(self, place: Place, program: Path) -> None:
        """`program` is `langgraph` of an environment with the extra `serve`."""
        from langgraph_sdk import get_sync_client

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
        config |= {"dependencies": [str(ROOT)], "http": {"app": str(ROOT / config["http"]["app"])}}
        config["graphs"] = {name: str(ROOT / path) for name, path in config["graphs"].items()}
        (place.folder / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
        words = (str(program), "dev", "--port", str(port), "--no-browser", "--no-reload", "--n-jobs-per-worker", "4")
        self._server, url = place.started(words), f"http://127.0.0.1:{port}"
        _await(partial(_answers, url))
        self._client = get_sync_client(url=url)

    @contextlib.contextmanager
    def __call__(self, place: Place) -> Iterator[Cancellable]:
        """Begin a run."""
        thread = self._client.threads.create()["thread_id"]
        request: dict[str, Any] = {"task": TASK, "author": "llm", "on": "lab", "limits": {"generations": 50}}
        run = self._client.runs.create(thread, "scientist", input=request)

        def cancel() -> float:
            self._client.runs.cancel(thread, run["run_id"])
            return now_s()

        yield Cancellable(self._server.pid, cancel)
        _await(lambda: self._client.runs.get(thread, run["run_id"])["status"] != "running")

    def close(self) -> None:
        """End the server."""
        self._client.close()
        _ended(self._server)


@contextlib.contextmanager
def mcp_cancel(place: Place) -> Iterator[Cancellable]:
    """Begin a `check` over MCP, which the SDK's client abandons: for that it sends `notifications/cancelled`."""
    ready, leaving, roots, moments = threading.Event(), threading.Event(), list[int](), list[float]()

    async def call() -> None:
        from mcp.client.client import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        from benchmarks.processes import descendants

        words = [*COMMAND[1:], "mcp"]
        parameters = StdioServerParameters(
            command=COMMAND[0], args=words, cwd=place.folder, env=dict(place.environment)
        )
        with (place.folder / "log.txt").open("a", encoding="utf-8") as log:
            before = set(descendants(os.getpid()))
            async with Client(stdio_client(parameters, errlog=log)) as client:
                roots.extend(set(descendants(os.getpid())) - before)
                async with anyio.create_task_group() as group:
                    group.start_soon(checks, client)
                    ready.set()
                    await anyio.to_thread.run_sync(leaving.wait)
                    moments.append(now_s())
                    group.cancel_scope.cancel()
                await anyio.to_thread.run_sync(ended.wait)  # the client stays: its call alone was cancelled

    async def checks(client: Any) -> None:
        source = seed_text(load_task(TASK).seeds[0])
        for number in range(1000):  # each is another text, which nothing has stored a verdict of
            await client.call_tool("check", {"task": TASK, "source": f"{source}\n// {number} {now_s()}\n"})

    ended = threading.Event()
    thread = threading.Thread(target=anyio.run, args=(call,), daemon=True)
    thread.start()
    ready.wait(START_S)

    def cancel() -> float:
        leaving.set()
        _await(lambda: bool(moments))
        return moments[0]

    yield Cancellable(roots[0], cancel)
    ended.set()
    thread.join(END_S)


@contextlib.contextmanager
def _running(place: Place, words: tuple[str, ...], **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = place.started(words, **more)
    try:
        yield process
    finally:
        _ended(process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Wait for what is to end by itself, and end it where it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _runs(place: Place) -> set[str]:
    if not (place.runs / "ledger.db").exists():
        return set()
    with Ledger(place.runs / "ledger.db") as ledger:
        return {run.id for run in ledger.runs()}


def _stops(place: Place, run_id: str) -> int:
    with Ledger(place.runs / "ledger.db") as ledger:
        return ledger.stops_asked(run_id)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ok", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def _await(claim: Callable[[], bool]) -> None:
    until = time.monotonic() + START_S
    while not claim():
        if time.monotonic() > until:
            raise TimeoutError("what was waited for did not come; the log in the folder says more")
        time.sleep(0.01)
