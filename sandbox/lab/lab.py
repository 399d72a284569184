"""The lab's face: build a candidate, execute launches on buffers, hand back outputs, masks, findings and counters."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from records.errors import LabError
from records.evaluation import Finding
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.evidence import Evidence
from sandbox.lab import executor_request, sentences
from sandbox.lab.build.program import Builder, LabProgram
from sandbox.lab.cost.counters import LaunchCounters, launch_counters
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.executor_request import Buffer
from sandbox.lab.memory_folder import memory_folder, prefix
from sandbox.lab.stored_inputs import Stored, StoredInputs
from sandbox.process import Completed, ProcessLimits, run
from sandbox.target import Target
from tasks.task import Task

__all__ = ["Buffer", "Execution", "Lab", "LabProgram"]

Checks = Literal["all", "bounds"]
RECORDED_BLOCKS = 4  # workgroups of each launch whose accesses are recorded when counting
GRACE_S = 5.0  # what the executor may take beyond the deadline before it is killed


@dataclass(frozen=True)
class Execution:
    """What came of executing a plan. Outputs hold poison where `written` is False; there are none when counting."""

    outputs: dict[str, npt.NDArray[Any]]  # empty after counting
    written: dict[str, npt.NDArray[np.bool_]]  # per element: every byte of it was written
    findings: tuple[Finding, ...]
    executed: float  # share of the workgroups of all launches
    sampled_blocks: tuple[int, ...]  # workgroups executed, per launch
    ownership_valid: bool  # no atomics on outputs and no later launch reads what an earlier one wrote in part
    launches: tuple[LaunchCounters, ...]
    seconds: float
    accesses: int = 0  # loads and stores of all work-items
    launch_seconds: tuple[float, ...] = ()  # wall time inside each launch, without start-up and files


class Lab:
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
        self._builder = Builder(toolchain, cache.resolve(), target.wave, evidence)
        self._evidence = evidence
        self._stored: StoredInputs | None = None
        self._storing = threading.Lock()
        self._cache = cache.resolve()
        self._target = target
        self._cores = cores or len(os.sched_getaffinity(0))

    def build(
        self, candidate: Candidate, tunables: Mapping[str, int], *, instrumented: bool = True
    ) -> LabProgram | tuple[Finding, ...]:
        """Compile for execution; findings when the candidate cannot be executed here. Cached by content.

        Without instrumentation it runs faster and no verdict can rest on it: nothing is checked, masked or counted.
        """
        return self._builder.build(candidate, tunables, instrumented=instrumented)

    def execute(
        self,
        program: LabProgram,
        plan: ResolvedPlan,
        buffers: Sequence[Buffer],
        *,
        count: bool,
        blocks: int | None,
        deadline_s: float,
        exact: bool = False,
        checks: Checks = "all",
        recorded: int = RECORDED_BLOCKS,
        l1_sharers: int = 1,
    ) -> Execution:
        """Run all launches in order; `blocks` limits each launch to that many evenly spread workgroups.

        `exact` multiplies matrices as CDNA3's matrix cores round; else in the accumulator's type, which is faster.
        When counting, a workgroup has that part of an L1 which is left to one of `l1_sharers`.
        `checks` "bounds" looks for no races and no unwritten memory; counting never does, as it skips workgroups.
        """
        started = time.monotonic()
        totals = [math.prod(launch.grid) for launch in plan.launches]
        chosen = tuple(total if blocks is None else min(total, max(1, blocks)) for total in totals)
        work = executor_request.Work(
            blocks=chosen,
            recorded_blocks=recorded if count else 0,
            workers=min(self._cores, max(chosen)),
            deadline_s=deadline_s,
            l1_lines=max(1, int(self._target.memory["l1_bytes"] // self._target.memory["line_bytes"] // l1_sharers)),
            line_bytes=int(self._target.memory["line_bytes"]),
            exact=exact,
            checks=_checks(checks, count, len(totals) > 1 and chosen != tuple(totals)),
            device=_device(self._target),
            phases=lane_groups(self._target.vendor, self._target.wave),
        )
        regions, seen, outputs = self._once(program, plan, buffers, work)
        if work.workers > 1 and any(row["kind"] == "race" for row in seen["findings"]):
            # Whether two workgroups leave the same value cannot be told while both are at it: one at a time decides.
            regions, seen, outputs = self._once(program, plan, buffers, replace(work, workers=1))
        scene = sentences.Scene(program, plan, regions, deadline_s, self._target.wave)
        launches = seen["launches"]
        ran = [int(row["executed"]) for row in launches] + [0] * (len(totals) - len(launches))
        return Execution(
            outputs={name: values for name, (values, _) in outputs.items()},
            written={name: mask for name, (_, mask) in outputs.items()},
            findings=sentences.findings(scene, seen["findings"]),
            executed=sum(ran) / sum(totals),
            sampled_blocks=tuple(ran),
            ownership_valid=_ownership(seen, regions),
            launches=tuple(
                launch_counters(i, row, scene, self._target) for i, row in enumerate(launches) if row["recorded"]
            )
            if count
            else (),
            seconds=time.monotonic() - started,
            accesses=int(seen["accesses"]),
            launch_seconds=tuple(float(row["ns"]) / 1e9 for row in launches),
        )

    def _once(
        self, program: LabProgram, plan: ResolvedPlan, buffers: Sequence[Buffer], work: executor_request.Work
    ) -> tuple[tuple[executor_request.Region, ...], dict[str, Any], dict[str, tuple[Any, Any]]]:
        """One run of the executor: regions, its result, and the outputs unless it only counted."""
        stored = executor_request.inputs_file(buffers)
        layout = executor_request.lay_out(buffers, count=work.recorded_blocks > 0)
        folder = Path(tempfile.mkdtemp(prefix=prefix(), dir=memory_folder(self._cache, layout.memory)))
        try:
            executor_request.write(folder, program, plan, layout, work)
            seen = _read_result(folder, self._run([program.path, folder, *([stored] if stored else [])], work))
            return layout.regions, seen, {} if work.recorded_blocks else _outputs(folder, layout.regions)
        finally:
            if self._evidence:
                self._evidence.execution(folder, plan, {b.name: b.data.nbytes for b in buffers}, stored)
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, argv: Sequence[str | Path], work: executor_request.Work) -> Completed:
        limits = ProcessLimits(cpu_s=int(work.deadline_s * (self._cores + 1)) + 10, file_bytes=64 << 20)
        return run(
            [str(word) for word in argv], cwd=Path(argv[1]), env={}, timeout_s=work.deadline_s + GRACE_S, limits=limits
        )

    def stored_inputs(self, task: Task) -> StoredInputs:
        """What the benchmarks of this task read when they are counted; made once, until another task is asked for."""
        with self._storing:
            if self._stored is None or self._stored.task is not task:
                self._stored = StoredInputs(task, memory_folder(self._cache, 0))
            return self._stored


def _checks(asked: Checks, count: bool, partial: bool) -> int:
    """When a later launch reads what an earlier one wrote in part, unwritten memory is no fault."""
    return 0 if count or asked == "bounds" else 1 if partial else 2


def _device(target: Target) -> tuple[int, ...]:
    """The last words of the request's header: what the counters must know of the device, see runtime/request.h."""
    memory = target.memory
    return (
        target.wave,
        int(memory.get("sector_bytes", 64)),
        int(memory.get("sector_bytes", memory["line_bytes"])),
        min(target.wave, int(memory.get("l1_lanes_per_clock", 16))),
        int(memory["l1_bytes_per_clock"]),
        int(memory.get("joins_global", 1)),
    )


def _read_result(folder: Path, done: Completed) -> dict[str, Any]:
    try:
        seen: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return seen
    except (OSError, ValueError):
        how = "did not end at its deadline" if done.timed_out else f"ended with status {done.returncode}"
        raise LabError(
            f"the lab's executor {how} without a result ({done.stderr.strip()[:300] or 'no message'})"
        ) from None


def _outputs(folder: Path, regions: Sequence[executor_request.Region]) -> dict[str, tuple[Any, Any]]:
    """Contents and per-element masks of the outputs, in the shapes of their buffers."""
    found = {}
    for region in regions:
        data = region.buffer.data
        if region.buffer.role != "output" or isinstance(data, Stored):
            continue
        if data.size == 0:
            found[region.buffer.name] = (data.copy(), np.zeros(data.shape, bool))
            continue
        raw = np.fromfile(folder / "memory.bin", np.uint8, region.size, offset=region.file_offset)
        mask = np.fromfile(folder / "masks.bin", np.uint8, region.size, offset=region.mask_offset)
        whole = _all_bytes(mask, data.itemsize)
        found[region.buffer.name] = (raw.view(data.dtype).reshape(data.shape), whole.reshape(data.shape))
    return found


def _all_bytes(mask: npt.NDArray[np.uint8], itemsize: int) -> npt.NDArray[np.bool_]:
    """Per element, whether all its bytes are marked; a mask's byte is 0 or 1."""
    if itemsize in (1, 2, 4, 8):
        return np.asarray(mask.view(f"u{itemsize}") == int.from_bytes(b"\x01" * itemsize, "little"))
    return np.asarray(mask.reshape(-1, itemsize).all(axis=1))


def _ownership(seen: Mapping[str, Any], regions: Sequence[executor_request.Region]) -> bool:
    atomic = any(
        count and region.buffer.role != "input" for count, region in zip(seen["atomics"], regions, strict=True)
    )
    return not atomic and not any(row["reads_intermediate"] for row in seen["launches"])
