"""Work cancelled at random moments in five ways, and what began after it.

    python -m benchmarks.cancels [--each 20] [--seed 1] [--server .venv.serve/bin/langgraph] [--ways ctrl-c,stop]
    python -m benchmarks.cancels --stored    what lies in benchmarks/data

A run with a model (a local endpoint that answers each question in its own way) compiles and executes in the lab; it is
cancelled by Ctrl-C, by the command `stop`, by LangGraph's SDK at `langgraph dev`, and from asyncio; a `check` over MCP
by its client. From then on every process that begins below this one and every request that reaches the model is noted.
Nothing may begin, and nothing that had begun may still be busy, 2 s after the moment.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.model.endpoint import ROLES
from app.settings import Settings
from benchmarks.cancel_ways import TASK, Cancellable, Place, SdkCancel, asyncio_cancel, ctrl_c, mcp_cancel, stop_command
from benchmarks.collection import Collection, stored
from benchmarks.fickle_model import FickleModel
from benchmarks.figure import Figure, report
from benchmarks.processes import descendants, described_machine
from benchmarks.work_watch import TimedEndpoint, WorkWatch, take_orphans
from kernel_scientist import check
from tasks.loader import load_task, seed_text
from tests.support.compiler_cache import share_toolchain, toolchain

FILE, COLLECTOR = "cancels.json", "python -m benchmarks.cancels --server .venv.serve/bin/langgraph"
WITHIN_S, WATCHED_S = 2.0, 1.5
LONGEST_S = 12.0  # from the first work to the cancel
WAIT_S = 180.0  # for the first work
Way = Callable[[Place], AbstractContextManager[Cancellable]]


def cancelled(way: Way, place: Place, endpoint: TimedEndpoint, delay_s: float) -> dict[str, Any]:
    """Begin work, cancel it so long after it is seen, and return what came of it."""
    watch = WorkWatch(endpoint, WITHIN_S, WATCHED_S)
    watch.excused = set(descendants(os.getpid()))  # of this program's own
    with way(place) as work:
        watch.excused |= {work.root}
        until = time.monotonic() + WAIT_S
        while watch.during not in ("compiling", "asking"):
            if time.monotonic() > until:
                raise TimeoutError(f"nothing was at work after {WAIT_S:.0f} s; see {place.folder}/log.txt")
            time.sleep(0.02)
        time.sleep(delay_s)
        during = watch.during
        moment_s = work.cancel()
        watch.excused |= work.helpers()
        return {"delay_s": round(delay_s, 2), **asdict(watch.after(moment_s, during))}


def collect(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Cancel in every way; what is known lies in the file after each cancel."""
    take_orphans()
    c = Collection(options.out or folder, FILE, 60 * options.minutes)
    c.about |= {"device": described_machine(), "python": sys.version.split()[0], "seed": options.seed}
    draw, rows = random.Random(options.seed), list[dict[str, Any]]()
    model = FickleModel(has_lab=True)
    with TimedEndpoint(lambda body: model(dict(body))) as endpoint:
        place = Place(folder, environment(folder, endpoint.url))
        settings = Settings(runs_folder=place.runs, cache_folder=folder / "cache")
        check(seed_text(load_task(TASK).seeds[0]), TASK, settings=settings)  # builds what is built once
        server = SdkCancel(place, options.server.absolute()) if options.server else None
        ways: dict[str, Way] = {"ctrl-c": ctrl_c, "stop": stop_command, "asyncio": asyncio_cancel, "mcp": mcp_cancel}
        ways |= {"sdk": server} if server is not None else {}
        try:
            for name in options.ways.split(",") if options.ways else ways:
                for _ in range(options.each):
                    rows.append({"way": name, **cancelled(ways[name], place, endpoint, draw.uniform(0, LONGEST_S))})
                    c.save({"rows": rows})
                    c.say(f"{name}: {rows[-1]}")
        finally:
            if server is not None:
                server.close()
    return {"rows": rows}


def environment(folder: Path, url: str) -> dict[str, str]:
    """Return the environment of every program: its own records, its own verdicts, and the endpoint."""
    names = {f"KERNEL_SCIENTIST_MODEL_{role.upper()}": role for role in ROLES}
    toolchain()  # which is built where it is not there
    share_toolchain(folder / "cache")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "runs"),
        "KERNEL_SCIENTIST_CACHE_FOLDER": str(folder / "cache"),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": url,
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        **names,
    }


def figures(found: dict[str, Any]) -> list[Figure]:
    """Give for each way the cancels, what began or was busy too late, and the last beginning."""
    rows, result = found["rows"], list[Figure]()
    for way in dict.fromkeys(row["way"] for row in rows):
        mine = [row for row in rows if row["way"] == way]
        count = len(mine)
        last_s = max(max([*row["begun_s"], *row["asked_s"]], default=0.0) for row in mine)
        result += [
            Figure(f"cancels.{way}.late", sum(len(r["late"]) for r in mine), "", "cancels", count, "<= 0", FILE),
            Figure(f"cancels.{way}.busy", sum(len(r["busy"]) for r in mine), "", "cancels", count, "<= 0", FILE),
            Figure(f"cancels.{way}.last", last_s, "s", "the bound", WITHIN_S, f"<= {WITHIN_S}", FILE),
        ]
    during = Counter(row["during"] for row in rows)
    return [*result, *(Figure(f"cancels.{n}", c, "", "cancels", len(rows), "", FILE) for n, c in during.items())]


def main(words: Sequence[str] | None = None) -> int:
    """Cancel, or read what is stored, and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cancels", description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--server", type=Path, help="`langgraph` of an environment with the extra `serve`")
    parser.add_argument("--ways", default="", help="some of ctrl-c,stop,asyncio,mcp,sdk")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args(words)
    if options.stored:
        return report("Cancels, stored", figures(stored(FILE, COLLECTOR)))
    with tempfile.TemporaryDirectory(prefix="cancels-") as folder:
        try:
            return report("Cancels", figures(collect(options, Path(folder))))
        except TimeoutError:
            print((Path(folder) / "log.txt").read_text(encoding="utf-8", errors="replace")[-4000:])
            raise


if __name__ == "__main__":
    raise SystemExit(main())
