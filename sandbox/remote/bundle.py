"""Answers one request with an evaluator: the bundle of everything that the asker's graph will want to know next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from records.errors import LedgerError, SpoolError, TaskError, UsageError
from records.evaluation import Comparison, Contender, Evaluation, comparison_key
from records.files import write_whole
from records.ranking import by_interval, interval_of
from sandbox.base import HARNESS
from sandbox.candidate.tuning import finalists, with_defaults
from sandbox.protocol import LocalSandbox
from sandbox.remote.message import BundleEntry, Place, Request, Result
from tasks.loader import load_task, task_names
from tasks.task import Task

FILES = ("task.toml", "reference.py")


def answer(request: Request, judge: LocalSandbox, task: Task, worker: str, place: Place) -> Result:
    """Everything the request asks for. A broken machine is raised; a bad kernel is part of the answer."""
    started = time.monotonic()
    plain = Result(request.hash, HARNESS, worker, place)
    if request.incumbent is None:
        bundle = _Bundle(request, judge, task)
        made = replace(plain, entries=bundle.entries(), comparison=bundle.comparison)
    else:
        challenger = Contender(request.source, request.tunables)
        made = replace(plain, comparison=_compared(request, judge, task, challenger, request.incumbent))
    return replace(made, seconds=time.monotonic() - started)


def _compared(
    request: Request, judge: LocalSandbox, task: Task, challenger: Contender, incumbent: Contender
) -> Comparison:
    """A comparison under the asker's keys."""
    new, old = (request.key(c.source, c.tunables) for c in (challenger, incumbent))
    made = judge.compare(challenger, incumbent, task)
    return replace(made, key=comparison_key(new, old), challenger=new, incumbent=old)


def refuse(request_hash: str, why: str, worker: str, place: Place) -> Result:
    """The answer that there is none, with the reason in one sentence."""
    return Result(request_hash, HARNESS, worker, place, refusal=why)


def task_of(request: Request, cache: Path, allow_tasks: bool) -> Task:
    """This machine's copy of the task, or the one that came along where that is allowed; UsageError for another one."""
    if request.harness != HARNESS:
        raise UsageError(
            f"the request is of harness {request.harness} and this worker of {HARNESS}; "
            "use one version of the program on both sides"
        )
    if request.files and not allow_tasks:
        raise UsageError(
            f"the task {request.task} brings code of its own, which a worker executes only when it was "
            "started with --allow-tasks"
        )
    task = load_task(_unpacked(request, cache) if request.files else _known(request.task), request.target)
    if task.digest != request.digest:
        raise UsageError(
            f"the worker's copy of the task {request.task} ({task.digest[:12]}) is not the one asked for "
            f"({request.digest[:12]}); use one version of the program on both sides"
        )
    return task


def _known(name: str) -> str:
    if name not in task_names():
        raise TaskError(f"the worker has no task {name[:80]!r}; update it, or give the task by its folder")
    return name


def _unpacked(request: Request, cache: Path) -> Path:
    """The task that came along as a folder, named by its content."""
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
    """Walks the way a draft takes through the graph and keeps every evaluation under the asker's key."""

    def __init__(self, request: Request, judge: LocalSandbox, task: Task) -> None:
        self._request, self._judge, self._task = request, judge, task
        self._made: dict[tuple[str, str], BundleEntry] = {}
        self.comparison: Comparison | None = None

    def entries(self) -> tuple[BundleEntry, ...]:
        request = self._request
        last: Evaluation | None = None
        for purpose in request.purposes:
            if last is None or last.verdict.accepted:
                last = self._ask(purpose, request.source, request.tunables)
            else:  # every later stage says what the first one to refuse said
                self._keep(purpose, last)
        if request.tuning is not None and last is not None and last.verdict.accepted:
            self._tune()
        return tuple(self._made.values())

    def _tune(self) -> None:
        source, tuning = self._request.source, self._request.tuning
        assert tuning is not None
        for choice in finalists(self._judge.choices(source, self._task), tuning, self._estimate):
            tuned = with_defaults(source, choice)
            self._ask("compile", tuned, choice)
            made = self._ask("benchmark", tuned, choice)
            if made.verdict.accepted:
                self._meet_rival(Contender(tuned, choice), made)
                break

    def _meet_rival(self, challenger: Contender, made: Evaluation) -> None:
        rival = self._request.rival
        if rival is None or made.time_kind != "measured":
            return
        if by_interval(interval_of(made), (rival.low_us, rival.high_us)) is None:
            self.comparison = _compared(self._request, self._judge, self._task, challenger, rival.contender)

    def _estimate(self, choice: Mapping[str, int]) -> float | None:
        made = self._ask("estimate", self._request.source, choice)
        return made.rank_us if made.verdict.accepted else None

    def _ask(self, purpose: str, source: str, tunables: Mapping[str, int] | None) -> Evaluation:
        key = self._request.key(source, tunables)
        known = self._made.get((purpose, key))
        if known is not None:
            return known.evaluation
        work = {
            "compile": self._judge.compile,
            "verify": self._judge.verify,
            "benchmark": self._judge.benchmark,
            "estimate": self._judge.estimate,
        }
        if purpose not in work:
            raise SpoolError(
                f"the request {self._request.hash[:12]} asks for {purpose[:40]!r}, which there is not; "
                "use one version of the program on both sides"
            )
        return self._keep(purpose, replace(work[purpose](source, self._task, tunables), key=key))

    def _keep(self, purpose: str, made: Evaluation) -> Evaluation:
        self._made[purpose, made.key] = BundleEntry(purpose, made)
        return made
