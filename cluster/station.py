"""One GPU, or one share of a lab, as an actor: the evaluator of a local device behind packed requests.

Nothing here needs Ray; the supervisor makes an actor of it.
"""

from __future__ import annotations

import os
import platform
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.digest import code_digest
from records.codec import to_plain
from records.errors import DeviceError, MachineError, ScientistError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.cage.confinement import candidates, require
from sandbox.remote.bundle import task_of
from sandbox.remote.message import Request, pack, unpack
from sandbox.remote.pool import WorkerPool, gpu_indices, make_bench
from sandbox.remote.spool import worker_id
from sandbox.target import load_target
from sandbox.task_child import limits
from sandbox.task_host import TaskHost

AT_A_GPU = 3  # candidates that are compiled, waited for and compared at once; the GPU itself has one at a time
REMEMBERED = 64  # answers, for a supervisor that has lost its own


@dataclass(frozen=True)
class StationSpec:
    """The part of a station that all of its kind share."""

    target: str
    kind: str  # device or lab
    cache: str  # a folder of the node; `~` is its user's home
    isolation: str = "strict"  # or limits
    trusts_tasks: bool = False  # runs the code of strangers' tasks even where it cannot be confined
    task_seconds: int = 60  # that one question to it may take
    task_gib: float | None = None  # memory that it may take; three quarters of the node's where it is None


class Station:
    """Answers one request at a time. It is made at once; `introduce` takes as long as the device."""

    def __init__(self, spec: dict[str, Any], number: int, share: int) -> None:
        """Take the place of one of `share` stations of this kind on the node; `number` counts them."""
        self._spec, self._number, self._share = StationSpec(**spec), number, share
        self._bench: WorkerPool | None = None
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def introduce(self) -> dict[str, Any]:
        """Tell the place that this is, or the fault that keeps it from being one; then its process is of no use."""
        facts: dict[str, Any] = {
            "digest": code_digest(),
            "python": platform.python_version(),
            "host": platform.node(),
            "pid": os.getpid(),
        }
        try:
            self._bench = self._build_bench()
        except ScientistError as error:
            return {**facts, "kind": type(error).__name__, "text": str(error)}
        facts["capacity"] = AT_A_GPU if self._spec.kind == "device" else 1
        return {**facts, "kind": "", "place": to_plain(self._bench.place), "slot": self._bench.slots[0].name}

    def beat(self) -> None:
        """Show that the process is not stuck."""

    def answer(self, body: bytes) -> tuple[bytes, str, str]:
        """Return a packed result, or the kind and the sentence of a fault of this machine."""
        assert self._bench is not None
        try:
            request = unpack(Request, body)
            if request.hash not in self._kept:
                self._kept[request.hash] = pack(self._bench.answer(self._bench.slots[0], request))
                if len(self._kept) > REMEMBERED:
                    self._kept.popitem(last=False)
            return self._kept[request.hash], "", ""
        except MachineError as error:
            return b"", type(error).__name__, str(error)
        except OSError as error:
            why = f"the node {platform.node()} fails: {error.strerror or error}"
            return b"", "SpoolError", f"{why}; look at its disk and its memory, then resume the run"

    def _build_bench(self) -> WorkerPool:
        """Build the evaluator, with what a worker of this machine must keep from kernels."""
        spec, target = self._spec, load_target(self._spec.target)
        cache = Path(spec.cache).expanduser().absolute()
        if spec.kind == "lab":
            require(find_toolchain(cache / "toolchain").cage.level, spec.isolation)
            gpus, cores = None, max(1, len(os.sched_getaffinity(0)) // self._share)
        else:
            require(candidates(None)[0].level, spec.isolation)
            indices = gpu_indices(target)
            if self._number >= len(indices):
                raise DeviceError(
                    f"the node {platform.node()} declares {self._share} {spec.target} and has {len(indices)} with a "
                    "working driver; repair the driver, or start Ray there with the right resources"
                )
            gpus, cores = [indices[self._number]], None
        bench = make_bench(
            worker_id(platform.node() or "node"), spec.kind, target, cache, gpus, cores, False, spec.isolation
        )
        allowed = limits(spec.task_seconds, spec.task_gib)
        host = TaskHost(cache, lambda text: None, is_trusted=spec.trusts_tasks, limits=allowed)
        return WorkerPool(bench.worker, bench.place, bench.slots, lambda request: task_of(request, cache, host))
