"""The evaluators of a worker: one place for each GPU, or the lab."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from records.errors import DeviceError, MachineError, UsageError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.protocol import LocalSandbox
from sandbox.remote.bundle import answer, refuse, task_of
from sandbox.remote.message import Place, Request, Result
from sandbox.target import Target
from sandbox.task_host import TaskHost
from tasks.loader import TASK_FAULTS
from tasks.task import Task

if TYPE_CHECKING:
    from sandbox.gpu.gpu_evaluator import GpuEvaluator

SEEDS = 4  # evaluators kept for as many seeds: runs with different seeds may share a worker


@dataclass
class WorkerSlot:
    """One candidate at a time: the evaluators of one GPU, or the lab's."""

    name: str
    make: Callable[[int], LocalSandbox]  # by the seed of the held-out inputs
    by_seed: bool = True  # a GPU's evaluator draws its inputs from a secret of its own
    judges: dict[int, LocalSandbox] = field(default_factory=dict)

    def judge(self, seed: int) -> LocalSandbox:
        """Return the evaluator for a seed; make it where there is none yet."""
        seed = seed if self.by_seed else 0
        if seed not in self.judges:
            while len(self.judges) >= SEEDS:
                _close(self.judges.pop(next(iter(self.judges))))
            self.judges[seed] = self.make(seed)
        return self.judges[seed]

    def close(self) -> None:
        """Give the GPU back."""
        while self.judges:
            _close(self.judges.popitem()[1])


@dataclass(frozen=True)
class WorkerPool:
    """All slots of a worker, which are of one kind, and what it may do."""

    worker: str
    place: Place
    slots: tuple[WorkerSlot, ...]
    find_task: Callable[[Request], Task]

    def answer(self, slot: WorkerSlot, request: Request) -> Result:
        """Answer a request, or say why it is refused; a broken machine is raised."""
        try:
            return answer(request, slot.judge(request.seed), self.find_task(request), self.worker, self.place)
        except UsageError as error:
            return self.refuse(request.hash, str(error))
        except TASK_FAULTS as error:
            return self.refuse(
                request.hash,
                f"the worker failed on it with {type(error).__name__}: {error}; repair the task or the worker",
            )

    def refuse(self, request_hash: str, why: str) -> Result:
        """Answer that there is no answer, with the reason in one line."""
        return refuse(request_hash, " ".join(why.split()), self.worker, self.place)

    def close(self) -> None:
        """Give all GPUs back."""
        for slot in self.slots:
            slot.close()


def make_bench(
    worker: str,
    on: str,
    target: Target,
    cache: Path,
    gpus: Sequence[int] | None,
    cores: int | None,
    allow_tasks: bool,
    isolation: str,
) -> WorkerPool:
    """Make the pool for `lab` or `device`; `gpus` are all of the target's kind when not given.

    MachineError where a device's process cannot be kept from the user's files, unless `isolation` is "limits".
    """
    if on == "lab":
        toolchain = find_toolchain(cache / "toolchain")

        def in_lab(seed: int) -> LocalSandbox:
            return LabEvaluator(toolchain, cache / "kernels", target, seed, cores)

        place = Place(target.name, f"lab:{target.name}", toolchain.version)
        slots: tuple[WorkerSlot, ...] = (WorkerSlot("lab", in_lab),)
    else:
        place, slots = _devices(target, cache, gpus, isolation)
    host = TaskHost(cache, lambda text: None, is_trusted=True) if allow_tasks else None  # its user has said so
    return WorkerPool(worker, place, slots, lambda request: task_of(request, cache, host))


def gpu_indices(target: Target) -> tuple[int, ...]:
    """List this machine's GPUs of the target's kind that can be driven, by index; empty without a driver."""
    from sandbox.gpu.gpu_pool import device_indices

    return device_indices(target)


def device_evaluator(
    target: Target, cache: Path, seed: int, index: int | None = None, isolation: str = "limits"
) -> GpuEvaluator:
    """Make the evaluator on one GPU, the first of its kind when not given; DeviceError where there is none.

    MachineError where its process cannot be kept from the user's files, unless `isolation` is "limits".
    """
    from sandbox.gpu.fence_choice import require_fence
    from sandbox.gpu.gpu_evaluator import GpuEvaluator

    indices = gpu_indices(target) if index is None else (index,)
    if not indices:
        raise DeviceError(
            f"there is no {target.title} with a working driver on this machine; start the worker where "
            "there is one, or use --on lab"
        )
    evaluator = GpuEvaluator(target, cache, seed, indices[0])
    try:
        require_fence(evaluator.fence, isolation)
    except MachineError:
        evaluator.close()
        raise
    return evaluator


def _devices(
    target: Target, cache: Path, gpus: Sequence[int] | None, isolation: str
) -> tuple[Place, tuple[WorkerSlot, ...]]:
    indices = gpu_indices(target)
    unknown = sorted(set(gpus or ()) - set(indices))
    if indices and unknown:
        raise UsageError(f"--gpus names {unknown[0]}; this machine has {', '.join(map(str, indices))}")

    def on_gpu(index: int | None) -> Callable[[int], LocalSandbox]:
        return lambda seed: device_evaluator(target, cache / "kernels", seed, index, isolation)

    slots = tuple(WorkerSlot(f"GPU {index}", on_gpu(index), by_seed=False) for index in gpus or indices) or (
        WorkerSlot("GPU", on_gpu(None), by_seed=False),
    )
    try:
        judges = [slot.judge(0) for slot in slots]
    except MachineError:
        for slot in slots:
            slot.close()
        raise
    distinct = {Place(target.name, judge.device, judge.version) for judge in judges}
    if len(distinct) > 1:
        raise DeviceError(
            "the GPUs of this machine are not alike; start a worker with --gpus for each kind, with a spool folder each"
        )
    return distinct.pop(), slots


def _close(judge: LocalSandbox) -> None:
    close = getattr(judge, "close", None)
    if close is not None:
        with contextlib.suppress(DeviceError):
            close()
