"""Evaluate for others: `python -m sandbox.worker --spool DIR`, or `--serve HOST:PORT --token-file FILE`.

Needs Python, numpy and ml_dtypes only, and the compiler package where it judges in the lab. It takes requests until it
is stopped, or with --once until there are none; Ctrl-C lets the work in hand end, a second one drops it.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np

from records.codec import to_plain
from records.errors import MachineError, ScientistError, SpoolError, UsageError
from records.outside_text import visible
from records.quantity import counted
from records.stopping import INTERRUPTED, StopSignal, stoppable
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.cage.confinement import candidates, require
from sandbox.judge_digest import judge_digest
from sandbox.remote.channel import parse_address, read_token
from sandbox.remote.message import Request
from sandbox.remote.pool import WorkerPool, WorkerSlot, make_bench
from sandbox.remote.server import Server
from sandbox.remote.spool import LEASE_S, MOST_TRIES, Claim, Spool, worker_id
from sandbox.target import load_target

POLL_S = 1.0
MOST_NOTES = 20  # requests that are passed over by name


class Folder:
    """Works through a spool folder with every slot of a bench."""

    def __init__(self, spool: Spool, bench: WorkerPool, once: bool) -> None:
        """Pin the folder to this kind of place; SpoolError when it is another's."""
        pinned = spool.pin(bench.place)
        if pinned != bench.place:
            raise SpoolError(
                f"the results in {spool.folder} come from {pinned.text}, and this is {bench.place.text}; "
                "use another spool folder for it"
            )
        self._spool, self._bench, self._once = spool, bench, once
        self._claims: set[Claim] = set()
        self._passed: set[str] = set()  # requests that are not for this worker or cannot be read; told once
        self.done = 0
        spool.describe(
            bench.worker,
            {
                "worker": bench.worker,
                **to_plain(bench.place),
                "harness": judge_digest(),
                "slots": [s.name for s in bench.slots],
                "python": platform.python_version(),
                "numpy": np.__version__,
            },
        )

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop, or until nothing is left for `once`; raise the first fault when all have ended."""
        ended = threading.Event()
        beating = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        beating.start()
        with ThreadPoolExecutor(len(self._bench.slots)) as pool:
            work = [pool.submit(self._take, slot, stop) for slot in self._bench.slots]
            try:
                _await(work, stop)
            finally:
                ended.set()
        beating.join()
        for future in work:
            future.result()

    def _take(self, slot: WorkerSlot, stop: threading.Event) -> None:
        while not stop.is_set():
            worked = False
            for name in self._spool.open_requests(self._passed):
                if stop.is_set():
                    return
                worked = self._work_on(slot, name) or worked
            if self._once and not worked:
                return
            stop.wait(0.0 if worked else POLL_S)

    def _work_on(self, slot: WorkerSlot, name: str) -> bool:
        """Do one request, if it is for us and free."""
        request = self._readable(name)
        claim = self._spool.claim(name) if request is not None else None
        if request is None or claim is None:
            return False
        self._claims.add(claim)
        try:
            if claim.number > MOST_TRIES:
                result = self._bench.refuse(
                    name,
                    f"{MOST_TRIES} workers failed or were lost on it; look at their messages and repair the machine",
                )
            else:
                note(f"{slot.name}: {name[:12]} {request.task[:80]}")
                result = self._bench.answer(slot, request)
            is_first = self._spool.publish(result, claim)
        except MachineError as error:
            claim.expire()
            note(f"{slot.name}: {error}")
            raise
        except BaseException:
            claim.expire()
            raise
        finally:
            self._claims.discard(claim)
        self.done += 1
        note(
            f"{slot.name}: {name[:12]} "
            + (f"refused: {result.refusal}" if result.refusal else f"done in {result.seconds:.1f} s")
            + ("" if is_first else "; dropped, because another worker's result was there first")
        )
        return True

    def _readable(self, name: str) -> Request | None:
        try:
            request = self._spool.request(name)
        except SpoolError as error:
            self._pass(name, f"the request {name[:12]} {error}; it is left alone until it is written again")
            return None
        if request.target != self._bench.place.target:
            self._pass(name, f"the request {name[:12]} is for {request.target}; it is left to another worker")
            return None
        return request

    def _pass(self, name: str, why: str) -> None:
        self._passed.add(name)
        if len(self._passed) < MOST_NOTES:
            note(why)
        elif len(self._passed) == MOST_NOTES:
            note("more requests are passed over and not named here; see who else writes to the folder")

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(self._spool.lease_s / 5):
            for claim in tuple(self._claims):
                claim.beat()


def _await(work: Sequence[Future[None]], stop: threading.Event) -> None:
    """Wait in pieces, so that a signal is seen; the first one lets the work in hand end."""
    try:
        while wait(work, timeout=0.5).not_done:
            pass
    except KeyboardInterrupt:
        stop.set()
        note("stopping after the work in hand; once more to drop it")
        while wait(work, timeout=0.5).not_done:
            pass
        raise


def note(text: str) -> None:
    """Write one line for whoever watches."""
    sys.stderr.write(visible(" ".join(text.split())) + "\n")
    sys.stderr.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code is 0, 2 for wrong usage, 3 for a machine at fault, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    try:
        bench = _bench(options)
        stop = threading.Event()
        with contextlib.closing(bench), stoppable(StopSignal()):
            if options.spool is not None:
                key = read_token(options.spool_key_file, "spool key") if options.spool_key_file else ""
                folder = Folder(Spool(options.spool, options.lease_s, key), bench, options.once)
                note(f"{bench.worker}: {bench.place.text}; taking requests from {options.spool}")
                folder.run(stop)
                note(f"{counted(folder.done, 'request')} done")
            else:
                server = Server(parse_address(options.serve), read_token(options.token_file), bench, note)
                note(f"{bench.worker}: {bench.place.text}; listening on {server.address[0]}:{server.address[1]}")
                server.run(stop)
    except ScientistError as error:
        note(f"worker: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        note("worker: interrupted")
        return INTERRUPTED
    return 0


def _bench(options: argparse.Namespace) -> WorkerPool:
    if (options.spool is None) == (options.serve is None):
        raise UsageError("give either --spool DIR or --serve HOST:PORT")
    if options.serve is not None and options.token_file is None:
        raise UsageError("--serve needs --token-file FILE: without a token anyone could use this machine")
    try:
        gpus = None if options.gpus == "all" else tuple(int(text) for text in options.gpus.split(","))
    except ValueError:
        raise UsageError(f"--gpus is all or a list like 0,1, not {options.gpus!r}") from None
    if options.on == "lab":
        require(find_toolchain(options.cache.expanduser().absolute() / "toolchain").cage.level, options.isolation)
    else:
        require(candidates(None)[0].level, options.isolation)
    host = platform.node() or "worker"
    return make_bench(
        worker_id(host),
        options.on,
        load_target(options.target),
        options.cache.expanduser().absolute(),
        gpus,
        options.cores,
        options.allow_tasks,
        options.isolation,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.worker", description="Evaluate kernels for runs elsewhere; give --spool or --serve."
    )
    parser.add_argument("--spool", type=Path, metavar="DIR", help="take requests from this folder")
    parser.add_argument(
        "--serve", metavar="HOST:PORT", help="take requests from a socket; signed, but not hidden; needs --token-file"
    )
    parser.add_argument(
        "--spool-key-file",
        type=Path,
        metavar="FILE",
        help="the key that seals requests and results in the folder; only sealed requests are answered then",
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="the token that askers must prove")
    parser.add_argument("--once", action="store_true", help="stop when the folder holds nothing more to do")
    parser.add_argument(
        "--on", choices=("device", "lab"), default="device", help="judge on GPUs, or in the lab (default: %(default)s)"
    )
    parser.add_argument("--target", default="mi300x", help="the GPU that requests are for (default: %(default)s)")
    parser.add_argument("--gpus", default="all", metavar="N,N", help="which, one candidate at a time on each")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("~/.cache/kernel-scientist"),
        metavar="DIR",
        help="where compiled kernels are kept (default: %(default)s)",
    )
    parser.add_argument("--cores", type=int, metavar="N", help="threads the lab may use (default: all)")
    parser.add_argument(
        "--isolation",
        choices=("strict", "limits"),
        default="strict",
        help="limits allows a machine that cannot keep files and network from kernels (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-tasks", action="store_true", help="execute the reference.py of tasks that come along with a request"
    )
    parser.add_argument(
        "--lease-s",
        type=float,
        default=LEASE_S,
        metavar="SECONDS",
        help="silence after which a worker counts as lost (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
