"""The answer to one request: a bundle of every evaluation that the asker's graph will need next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from records.errors import LedgerError, SpoolError, TaskError, UsageError
from records.evaluation import Comparison, Contender, Evaluation, comparison_key
from records.files import write_whole
from sandbox import walk
from sandbox.candidate.prepare import Prepared
from sandbox.judge_digest import judge_digest
from sandbox.protocol import LocalSandbox
from sandbox.remote.message import BundleEntry, Place, Request, Result
from sandbox.task_host import TaskHost
from sandbox.walk import Purpose
from tasks.domain import with_edges
from tasks.extra_shapes import shape_of
from tasks.loader import load_task, task_names
from tasks.task import Task

FILES = ("task.toml", "reference.py")


def answer(request: Request, judge: LocalSandbox, task: Task, worker: str, place: Place) -> Result:
    """Answer everything the request asks for. A broken machine is raised; a bad kernel is part of the answer."""
    started = time.monotonic()
    plain = Result(request.hash, judge_digest(), worker, place)
    prepared = judge.prepare(request.source, with_edges(task, _edges(request, task)), request.tunables)
    if request.incumbent is None:
        result = replace(plain, **_Bundle(request, judge, task).walked(prepared))
    else:
        result = replace(plain, comparison=_compared(request, judge, prepared, task, request.incumbent))
    return replace(result, seconds=time.monotonic() - started)


def _edges(request: Request, task: Task) -> tuple[Mapping[str, int], ...]:
    """Read the shapes to verify beside the task's own; UsageError for what is no shape of the task."""
    return tuple(shape_of(task, ",".join(f"{name}={value}" for name, value in dims.items())) for dims in request.edges)


def _compared(request: Request, judge: LocalSandbox, challenger: Prepared, task: Task, rival: Contender) -> Comparison:
    """Compare under the asker's keys."""
    incumbent = judge.prepare(rival.source, task, rival.tunables)
    new, old = request.key(challenger), request.key(incumbent)
    comparison = judge.compare(challenger, incumbent)
    return replace(comparison, key=comparison_key(new, old), challenger=new, incumbent=old)


def refuse(request_hash: str, why: str, worker: str, place: Place) -> Result:
    """Answer that there is no answer, with the reason in one sentence."""
    return Result(request_hash, judge_digest(), worker, place, refusal=why)


def task_of(request: Request, cache: Path, host: TaskHost | None) -> Task:
    """Find this machine's copy of the task, or the one sent along, which only a host runs; UsageError for another."""
    if request.harness != judge_digest():
        raise UsageError(
            f"the request is of harness {request.harness} and this worker of {judge_digest()}; "
            "use one version of the program on both sides"
        )
    if request.files and host is None:
        raise UsageError(
            f"the task {request.task} brings code of its own, which a worker executes only when it was "
            "started with --allow-tasks"
        )
    task = load_task(_unpacked(request, cache) if request.files else _shipped_name(request.task), request.target, host)
    if task.digest != request.digest:
        raise UsageError(
            f"the worker's copy of the task {request.task} ({task.digest[:12]}) is not the one asked for "
            f"({request.digest[:12]}); use one version of the program on both sides"
        )
    return task


def _shipped_name(name: str) -> str:
    if name not in task_names():
        raise TaskError(f"the worker has no task {name[:80]!r}; update it, or give the task by its folder")
    return name


def _unpacked(request: Request, cache: Path) -> Path:
    """Write the task that came along into a folder, named by its content."""
    if set(request.files) != set(FILES):
        raise TaskError(
            f"the task {request.task} brings {', '.join(sorted(request.files))[:80]} along; "
            f"a task is {' and '.join(FILES)}"
        )
    folder = cache / "tasks" / hashlib.sha256("\0".join(request.files[n] for n in FILES).encode()).hexdigest()
    try:
        for name in FILES:
            write_whole(folder / name, request.files[name].encode(), is_durable=True)
        write_whole(folder / "seed.hip", b"// The asker has the seeds.\n", is_durable=True)
    except OSError as error:
        raise LedgerError(
            f"the cache {cache} cannot be written to ({error.strerror}); free some space or choose "
            "another one with --cache"
        ) from None
    return folder


class _Bundle:
    """The evaluations of one walk, each made once and kept under the asker's key."""

    def __init__(self, request: Request, judge: LocalSandbox, task: Task) -> None:
        self._request, self._judge, self._task = request, judge, task
        self._entries: dict[tuple[str, str], BundleEntry] = {}

    def walked(self, prepared: Prepared) -> dict[str, Any]:
        """Walk all stages; return them as fields of a result."""
        request = self._request
        comparison: Comparison | None = None
        stages = walk.judge(self._ask, prepared, tuple(_purpose(p, request) for p in request.purposes))
        for purpose, evaluation in stages:
            self._entries.setdefault((purpose, evaluation.key), BundleEntry(purpose, evaluation))
        if request.tuning is not None and stages and stages[-1][1].verdict.accepted:
            best = walk.benchmark(self._ask, prepared, walk.tune(self._ask, prepared, request.tuning))
            if request.rival is not None and walk.needs_comparison(best.evaluation, request.rival):
                comparison = _compared(request, self._judge, best.prepared, self._task, request.rival.contender)
        return {"entries": tuple(self._entries.values()), "comparison": comparison}

    def _ask(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        key = self._request.key(prepared)
        if (purpose, key) not in self._entries:
            evaluation = replace(walk.question(self._judge, purpose)(prepared), key=key)
            self._entries[purpose, key] = BundleEntry(purpose, evaluation)
        return self._entries[purpose, key].evaluation


def _purpose(name: str, request: Request) -> Purpose:
    for purpose in walk.PURPOSES:
        if purpose == name:
            return purpose
    raise SpoolError(
        f"the request {request.hash[:12]} asks for {name[:40]!r}, which there is not; "
        "use one version of the program on both sides"
    )
