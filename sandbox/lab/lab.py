"""The lab's face: build a candidate, execute launches on buffers, hand back outputs, masks, findings and counters."""

from __future__ import annotations

import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from records.errors import NoAnswer
from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.evidence import Evidence
from sandbox.lab import executor_request, executor_result, sentences
from sandbox.lab.asked_workgroups import chosen_of, together
from sandbox.lab.cost.clock import TimelineRequest
from sandbox.lab.cost.counters import LaunchCounters, launch_counters
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.execution_place import ExecutionPlace
from sandbox.lab.executor_limits import (
    STREAMS,
    device_words,
    executor_limits,
    keep_streams,
    too_many_together,
    unwatchable,
)
from sandbox.lab.executor_request import Buffer
from sandbox.lab.executor_result import NoResult, check_files, has_owners, is_slow, read_outputs, read_result
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.memory_folder import memory_folder
from sandbox.lab.outcomes import Outcomes
from sandbox.lab.pieces import Piece, pieces_of
from sandbox.lab.scene import Scene
from sandbox.lab.stored_inputs import StoredInputs
from sandbox.process import Completed, last_words
from sandbox.target import Target
from tasks.task import Task

__all__ = ["Buffer", "Execution", "ExecutionRequest", "Lab", "LabProgram"]

Checks = Literal["all", "bounds"]
# The first workgroup begins, or the last one does: none may rest on what those before it have done. Or several are
# there at once, which take turns at atomic operations and barriers, as do their waves.
Order = Literal["forwards", "backwards", "exploring"]
ORDERS: tuple[Order, ...] = ("forwards", "backwards", "exploring")  # as in interpreter/request.h
RECORDED_BLOCKS = 4  # workgroups of each launch whose accesses are recorded when counting
PIECES_BYTES = 64 << 20  # of buffers that a few workgroups touch


@dataclass(frozen=True)
class ExecutionRequest:
    """A program, its launches in numbers, the buffers they get, and how much of them to execute."""

    program: LabProgram
    plan: ResolvedPlan
    buffers: Sequence[Buffer]
    deadline_s: float
    count: bool = False  # record the accesses of a few workgroups; nothing is checked but bounds, nothing is read back
    blocks: int | None = None  # at most so many workgroups of each launch, evenly spread; None: all
    workgroups: tuple[tuple[int, ...] | None, ...] = ()  # of each launch: these numbers (x + gx * (y + gy * z)) only,
    # in any order, each once; None: as `blocks` says
    shuffled: bool = False  # another wave begins in each workgroup, so that nothing rests on their order
    order: Order = "forwards"  # of workgroups
    exact: bool = False  # multiply matrices as CDNA3's matrix cores round, not in the accumulator's type; slower
    checks: Checks = "all"  # "bounds": neither races nor unwritten memory
    recorded: int = RECORDED_BLOCKS  # of each launch, when counting
    l1_sharers: int = 1  # workgroups among which an L1 is divided, when counting
    masks: bool = True  # False for a program without checks, which marks nothing: the execution has none
    probes: bool = True  # of all workgroups: first by a program with probes, for what optimisation hides
    timeline: TimelineRequest | None = None  # when counting: walk through what the recorded workgroups execute
    pieces: bool = False  # with `workgroups`: outputs come back as what was written of them, and no masks do


@dataclass(frozen=True)
class Execution:
    """The result of executing a plan. Outputs hold poison where `masks` are False; there are none when counting."""

    outputs: dict[str, npt.NDArray[Any]]  # empty after counting
    masks: dict[str, npt.NDArray[np.bool_]]  # per element: every byte of it was written
    findings: tuple[Finding, ...]
    executed: float  # share of the workgroups of all launches
    sampled_blocks: tuple[int, ...]  # workgroups executed, per launch
    ownership_valid: bool  # no atomics on outputs and no later launch reads what an earlier one wrote in part
    launches: tuple[LaunchCounters, ...]
    seconds: float
    accesses: int = 0  # loads and stores of all work-items
    launch_seconds: tuple[float, ...] = ()  # wall time inside each launch, without start-up and files
    launch_cpu_s: tuple[float, ...] = ()  # processor time inside each launch
    updated: frozenset[str] = frozenset()  # buffers that were changed atomically
    is_atomic: bool = False  # some memory was, LDS included
    is_waiting: bool = False  # a workgroup looked at one place all the time: for another that was not executed, maybe
    is_slow: bool = False  # the deadline came in a launch that had taken no longer than others which ended
    is_moving: bool = False  # it came while one workgroup ended after the other
    pieces: Mapping[str, Piece] = field(default_factory=dict)  # asked for as such; then there are no `outputs`


class Lab(ABC):
    """Executes candidates functionally for one target."""

    def __init__(
        self,
        toolchain: Toolchain,
        cache: Path,
        target: Target,
        cores: int | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        """`cores` is the number of threads; by default all that this process may use. `evidence` keeps the files."""
        self._toolchain = toolchain
        self._evidence = evidence
        self._stored: StoredInputs | None = None
        self._storing = threading.Lock()
        self._cache = cache.resolve()
        self._target = target
        self.cores = cores or len(os.sched_getaffinity(0))
        self.cpu_s = 0.0  # processor time of all executors so far
        self.outcomes = Outcomes()
        self._counting, self._here = threading.Lock(), threading.local()

    @property
    def cpu_here_s(self) -> float:
        """Processor time so far of the executors that this thread has asked for."""
        return float(getattr(self._here, "cpu_s", 0.0))

    def _note_cpu(self, seconds: float) -> None:
        self._here.cpu_s = self.cpu_here_s + seconds
        with self._counting:
            self.cpu_s += seconds

    def execute(self, request: ExecutionRequest) -> Execution:
        """Run all launches in order."""
        started = time.monotonic()
        refused = too_many_together(request.plan) or (None if request.count else unwatchable(request.buffers))
        if refused:
            return Execution({}, {}, (refused,), 0.0, (), False, (), 0.0)
        work, program, plan = self._work(request), request.program, request.plan
        totals = [math.prod(launch.grid) for launch in plan.launches]
        regions, answer, outputs = self._once(request, work)
        kinds = {row["kind"] for row in answer["findings"]}
        if work.workers > 1 and "race" in kinds and "timeout" not in kinds and not any(together(plan)):
            # Whether two workgroups leave the same value cannot be told while both are at it: one at a time decides.
            regions, answer, outputs = self._once(request, replace(work, workers=1))
        self.outcomes.note(program, answer["outcomes"])
        scene = Scene(program, plan, regions, request.deadline_s, self._target.wave)
        launches = answer["launches"]
        ran = [int(row["executed"]) for row in launches] + [0] * (len(totals) - len(launches))
        counted = enumerate(launches if request.count else ())
        return Execution(
            outputs={} if request.pieces else {name: values for name, (values, _) in outputs.items()},
            masks={} if request.pieces or not request.masks else {name: mask for name, (_, mask) in outputs.items()},
            findings=sentences.findings(scene, answer["findings"]),
            executed=sum(ran) / sum(totals),
            sampled_blocks=tuple(ran),
            ownership_valid=has_owners(answer, regions),
            launches=tuple(launch_counters(i, row, scene, self._target) for i, row in counted if row["recorded"]),
            seconds=time.monotonic() - started,
            accesses=int(answer["accesses"]),
            launch_seconds=tuple(float(row["ns"]) / 1e9 for row in launches),
            launch_cpu_s=tuple(float(row["cpu_ns"]) / 1e9 for row in launches),
            is_waiting=any(row["kind"] == "timeout" and row["write"] for row in answer["findings"]),
            is_slow=is_slow(answer),
            is_moving=executor_result.is_moving(answer, request.deadline_s),
            updated=frozenset(r.buffer.name for n, r in zip(answer["atomics"], regions, strict=True) if n),
            is_atomic=any(row["atomic"] for row in launches),
            pieces=outputs if request.pieces else {},
        )

    def _work(self, request: ExecutionRequest) -> executor_request.Work:
        totals = tuple(math.prod(launch.grid) for launch in request.plan.launches)
        chosen, lists = chosen_of(request.plan, request.blocks, request.workgroups)
        memory = self._target.memory
        return executor_request.Work(
            blocks=chosen,
            recorded_blocks=request.recorded if request.count else 0,
            workers=min(self.cores, max(chosen)),
            together=max(together(request.plan)),
            deadline_s=request.deadline_s,
            l1_lines=max(1, int(memory["l1_bytes"] // memory["line_bytes"] // request.l1_sharers)),
            line_bytes=int(memory["line_bytes"]),
            exact=request.exact,
            shuffled=request.shuffled,
            order=ORDERS.index(request.order),
            checks=_checks(request, len(totals) > 1 and chosen != totals),
            device=device_words(self._target),
            phases=lane_groups(self._target.vendor, self._target.wave),
            workgroups=lists,
            timeline=request.timeline if request.count else None,
        )

    def _once(
        self, request: ExecutionRequest, work: executor_request.Work
    ) -> tuple[tuple[executor_request.Region, ...], dict[str, Any], dict[str, Any]]:
        """One run of the executor: regions, its result, and the outputs unless it only counted."""
        program, plan = request.program, request.plan
        stored = executor_request.inputs_file(request.buffers)
        layout = executor_request.lay_out(
            request.buffers, count=request.count, sparse=any(request.workgroups), masks=request.masks
        )
        room = PIECES_BYTES if request.pieces else layout.memory
        with self.place(Path(program.path), room) as execution_place:
            try:
                self._write(execution_place.folder, program, plan, layout, work)
                completed = execution_place.run(executor_limits(work, layout, request.count), stored)
                self._note_cpu(completed.cpu_s if completed.cpu_s > 0 else completed.seconds)
                if work.timeline and work.timeline.keep:
                    keep_streams(execution_place.folder / STREAMS, work.timeline.keep)
                return self._answer(request, work, layout, execution_place.folder, completed)
            finally:
                if self._evidence:
                    sizes = {b.name: b.data.nbytes for b in request.buffers}
                    self._evidence.execution(execution_place.folder, Path(program.path), plan, sizes, stored)

    def _answer(
        self,
        request: ExecutionRequest,
        work: executor_request.Work,
        layout: executor_request.MemoryLayout,
        folder: Path,
        completed: Completed,
    ) -> tuple[tuple[executor_request.Region, ...], dict[str, Any], dict[str, tuple[Any, Any]]]:
        launches = request.plan.launches
        bounds = executor_result.AnswerBounds(
            totals=tuple(math.prod(launch.grid) for launch in launches),
            blocks=work.blocks,
            recorded=work.recorded_blocks,
            lanes=max(math.prod(launch.block) for launch in launches),
            regions=len(layout.regions),
        )
        try:
            if completed.returncode:
                raise NoResult("no message")
            answer = read_result(folder, bounds)
            check_files(folder, layout.masks, layout.memory)
            outputs: dict[str, Any] = {}
            if not request.count:
                outputs.update((pieces_of if request.pieces else read_outputs)(folder, layout.regions))
        except (OSError, NoResult) as error:
            how = "did not end at its deadline" if completed.timed_out else f"ended with status {completed.returncode}"
            raise NoAnswer(
                f"the lab's executor {how} without a result ({last_words(completed.stderr) or error})"
            ) from None
        return layout.regions, answer, outputs

    @abstractmethod
    def place(self, image: Path, nbytes: int) -> AbstractContextManager[ExecutionPlace]:
        """Lend a folder for a request with so many bytes of buffers, and the way to have this program execute it."""

    @abstractmethod
    def many_executions(self) -> AbstractContextManager[None]:
        """Keep what executions share until the end of this."""

    @abstractmethod
    def warm(self) -> None:
        """Build what every program needs."""

    @abstractmethod
    def build(self, candidate: Candidate, tunables: Mapping[str, int]) -> LabProgram | tuple[Finding, ...]:
        """Compile and decode; findings when the candidate cannot be executed here."""

    @abstractmethod
    def decoded(
        self, candidate: Candidate, tunables: Mapping[str, int], compilation: Compilation
    ) -> LabProgram | tuple[Finding, ...]:
        """Decode the listing of a compilation; findings where it holds what is not known."""

    @abstractmethod
    def _write(
        self,
        folder: Path,
        program: LabProgram,
        plan: ResolvedPlan,
        layout: executor_request.MemoryLayout,
        work: executor_request.Work,
    ) -> None: ...

    def stored_inputs(self, task: Task) -> StoredInputs:
        """Give the inputs of this task's benchmarks for counting; made once, until another task is asked for."""
        with self._storing:
            if self._stored is None or self._stored.task is not task:
                self._stored = StoredInputs(task, memory_folder(self._cache, 0))
            return self._stored


def _checks(request: ExecutionRequest, partial: bool) -> int:
    """Choose the checks: unwritten memory is no fault where a later launch reads what an earlier one wrote in part."""
    is_unchecked = request.count > 0 or request.checks == "bounds" or not request.program.is_checked
    return 0 if is_unchecked else 1 if partial else 2
