"""Decisions of what stands around a run: a cluster's requests, imported and exported kernels, a shared database."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, Any, list[str]]  # a decision's name, what was decided, the messages beside it
SCRIPTS = {  # what two stations do with one request after the other
    "answered": ((), ()),
    "lost": (("lost",), ()),
    "node lost": (("node", "node"), ("node",)),
    "at fault": (("DeviceError",) * 9, ()),
    "all at fault": (("DeviceError",) * 9, ("SpoolError",) * 9),
    "all lost": (("lost",) * 9, ("lost",) * 9),
}
FORMS = ("hip", "torch", "kernelbench", "robust-kbench", "gpumode", "flashinfer", "hf-kernels", "arena")
TASKS = ("row_softmax", "histogram", "nearest_codeword")
ADDRESSES = ("postgresql://nobody@127.0.0.1:1/none", "mysql://127.0.0.1/none", "postgresql://")


def clusters(folder: Path) -> Iterator[Row]:
    """Stations that answer, fail or are lost: which requests are answered and who is given up."""
    for name, scripts in SCRIPTS.items():
        decided, words = asyncio.run(_dispatched(*scripts))
        yield f"stations {name}", decided, words
    yield from _answers()


async def _dispatched(*scripts: tuple[str, ...]) -> tuple[Any, list[str]]:
    from cluster.dispatcher import ABSENT_S, Dispatcher, StationLost, StationPost, StationReply

    given_up: list[str] = []
    dispatcher = Dispatcher(lambda station, kind, why: given_up.append(f"{station}: {kind}"))

    def station(name: str, words: list[str]) -> StationPost:
        async def answer(body: bytes) -> StationReply:
            word = words.pop(0) if words else ""
            if word in ("lost", "node"):
                raise StationLost(word == "node")
            return StationReply(b"" if word else body, word, f"{name} is at fault" if word else "")

        return StationPost(name, f"node of {name}", "place", answer)

    for number, script in enumerate(scripts):
        dispatcher.join(station(f"s{number}", list(script)))
    requests = [asyncio.ensure_future(dispatcher.ask("a", "r", "place", f"{n}", f"{n}", b"body")) for n in range(6)]
    for _ in range(60):
        await asyncio.sleep(0)
    dispatcher.expire(0.0)
    dispatcher.expire(ABSENT_S + 1)
    replies = [await request for request in requests]
    dispatcher.forget("a")
    decided = [
        [[reply.kind, reply.body.decode()] for reply in replies],
        sorted(dispatcher.posts),
        given_up,
        dispatcher.lost,
    ]
    return decided, []


def _answers() -> Iterator[Row]:
    """What a station sent, taken or refused by the sandbox that asked."""
    from dataclasses import replace

    from cluster.cluster_sandbox import ClusterSandbox
    from graph.doubles import TableSandbox
    from records.errors import ScientistError
    from sandbox.remote.message import Place, Request, Result, pack, unpack
    from sandbox.target import load_target
    from tasks.loader import load_task
    from tests.support.stations import make_bench

    task = load_task("row_softmax", "mi300x")
    source = task.seeds[0].read_text(encoding="utf-8")
    pool = make_bench(task, TableSandbox())
    place = Place("mi300x", pool.place.device, pool.place.version)

    def wrong(**changes: Any) -> Callable[[Result], bytes]:
        return lambda result: pack(replace(result, **changes))

    ends: dict[str, Callable[[Result], bytes]] = {
        "right": pack,
        "cut": lambda result: pack(result)[:-40],
        "empty": wrong(entries=()),
        "for another request": wrong(request="0" * 64),
        "of another version": wrong(harness="0"),
        "refused": wrong(entries=(), refusal="the worker does not know this task"),
    }
    for name, end in ends.items():

        class Link:
            def ask(self, run: str, destination: Place, sticky: str, hashed: str, body: bytes, end: Any = end) -> bytes:
                answer: bytes = end(pool.answer(pool.slots[0], unpack(Request, body)))
                return answer

        far = ClusterSandbox(Link(), place, load_target("mi300x"), 7, "run")  # type: ignore[arg-type]
        try:
            verdict = far.compile(far.prepare(source, task)).verdict
            yield f"station's answer {name}", ["", verdict.code], []
        except ScientistError as error:
            yield f"station's answer {name}", [type(error).__name__, ""], [str(error)]


def exports(folder: Path) -> Iterator[Row]:
    """The forms that a seed can be written in, and the exit codes where it cannot."""
    from app.cli import run_command
    from tasks.loader import load_task

    for task in TASKS:
        seed = str(load_task(task, "mi300x").seeds[0])
        for form in FORMS:
            path = folder / f"{task} {form}"
            words = ["export", seed, "--task", task, "--as", form, "--unchecked", "--out", str(path)]
            yield f"export {task} as {form}", [run_command(words), path.exists()], []


def imports(folder: Path) -> Iterator[Row]:
    """What can become a task and what cannot, as far as that is found without PyTorch."""
    from app.cli import run_command
    from imports.graph import Graph, Operation, Ref, Tensor
    from imports.hip_text import seed_text
    from imports.numpy_text import reference_text
    from imports.sizing import sized

    sizes: dict[str, tuple[dict[str, int], Callable[[Any], bool]]] = {
        "none": ({}, lambda dims: True),
        "fixed": ({"n": 4096}, lambda dims: dims["n"] == 4096),
        "in steps": ({"n": 4096}, lambda dims: dims["n"] % 8 == 0),
    }
    for name, (original, runs) in sizes.items():
        yield f"sizes {name}", *_tried(lambda o=original, r=runs: sized(o, r).steps)
    for op in ("aten.relu.default", "aten.absent.default"):
        x, y = Tensor("x", ("n",), "f32"), Tensor("y", ("n",), "f32")
        graph = Graph((x,), (Operation("made", op, (Ref("x"),), {}, ("n",), "f32"),), ((y, "made"),))
        yield f"kernel of {op}", *_tried(lambda g=graph: bool(seed_text(g, ["n"])))
        yield f"reference of {op}", *_tried(lambda g=graph: bool(reference_text(g, None, ["n"], "wide", "")))
    path = folder / "function.py"
    path.write_text("def double(x):\n    return x + x\n", encoding="utf-8")
    commands = {
        "a missing file": [str(folder / "absent.py")],
        "a broken input": [f"{path}:double", "--input", "x"],
        "a type that is none": [f"{path}:double", "--input", "x=f99[n]", "--size", "n=64"],
        "a broken size": [f"{path}:double", "--input", "x=f32[n]", "--size", "n=few"],
    }
    for name, words in commands.items():
        status = run_command(["tasks", "new", "made", "--out", str(folder / name), "--from", *words])
        yield f"import with {name}", status, []


def _tried(step: Callable[[], Any]) -> tuple[Any, list[str]]:
    from imports.refusal import ImportRefused

    try:
        return ["", step()], []
    except ImportRefused as error:
        return [type(error).__name__, None], [str(error)]


def databases(folder: Path) -> Iterator[Row]:
    """Exit codes with databases that are not there."""
    from app.cli import run_command

    if importlib.util.find_spec("psycopg") is None:
        return
    for address in ADDRESSES:
        os.environ["KERNEL_SCIENTIST_DATABASE"] = address
        try:
            yield f"runs in {address}", run_command(["runs"]), []
        finally:
            del os.environ["KERNEL_SCIENTIST_DATABASE"]
