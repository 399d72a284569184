"""Measured kernels predicted by the lab, and what the two say of each other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from app.sandboxes import make_sandbox
from app.settings import Settings
from app.task_folders import open_sound_task
from records.agreement import Agreement, Factor, Pair, agreement, factors, scaled
from sandbox.measured_kernels import MeasuredKernel

if TYPE_CHECKING:
    from records.evaluation import Evaluation
    from tasks.task import Case, Task


@dataclass(frozen=True)
class FittedFactors:
    """Predictions beside measurements: as they are, and with the factors that suit them best."""

    pairs: tuple[Pair, ...]
    before: Agreement
    factors: tuple[Factor, ...]
    after: Agreement

    @property
    def plain(self) -> dict[str, object]:
        """For JSON."""
        rows = [{**asdict(pair), "ratio": round(pair.ratio, 4)} for pair in self.pairs]
        factors = {f.resource: {"factor": f.factor, "count": f.count} for f in self.factors}
        return {"pairs": rows, "before": asdict(self.before), "factors": factors, "after": asdict(self.after)}


@dataclass(frozen=True)
class PredictedKernel:
    """A measured kernel with the lab's estimate."""

    kernel: MeasuredKernel
    estimate: Evaluation
    pairs: tuple[Pair, ...]
    is_of_task: bool  # its cases are the task's own


def fitted(pairs: Sequence[Pair]) -> FittedFactors | None:
    """Fit the factors for these pairs; None of none."""
    before, fitted_factors = agreement(pairs), factors(pairs)
    after = agreement(scaled(pairs, {f.resource: f.factor for f in fitted_factors}))
    return None if before is None or after is None else FittedFactors(tuple(pairs), before, fitted_factors, after)


def predicted(
    settings: Settings, target: str, kernels: Iterable[MeasuredKernel], tell: Callable[[str], None]
) -> Iterator[PredictedKernel]:
    """Give the lab's estimate of each kernel, without a target file; kernels that it gives no time are told."""
    from sandbox.dispatched import asking

    sandbox = make_sandbox(settings.model_copy(update={"target_file": None}), target, "lab", 0)
    ask = asking(sandbox)
    for kernel in kernels:
        task = open_sound_task(settings, kernel.task, target)
        timed_task = with_benchmarks(task, tuple(dict.fromkeys((*kernel.cold_us, *kernel.warm_us))))
        prepared = sandbox.prepare(kernel.source, timed_task, dict(kernel.tunables) or None)
        if prepared.candidate.language != "hip":
            tell(f"{kernel.name}: no time is predicted for kernels in Triton and in assembly")
            continue
        estimate = ask("estimate", prepared)
        if not estimate.verdict.accepted:
            reasons = [finding.message for finding in estimate.verdict.findings] or [str(estimate.verdict.code)]
            tell(f"{kernel.name}: the lab refuses it: {reasons[0]}")
            continue
        yield PredictedKernel(kernel, estimate, tuple(pairs_of(kernel, estimate, tell)), timed_task is task)


def pairs_of(kernel: MeasuredKernel, estimate: Evaluation, tell: Callable[[str], None]) -> Iterator[Pair]:
    """List the measured times of a kernel, each beside the one that is expected."""
    for m in estimate.measurements:
        if m.case in kernel.cold_us:
            yield Pair(kernel.name, m.case, kernel.cold_us[m.case], m.time_us, m.bound)
        if m.case in kernel.warm_us and m.warm_us:
            yield Pair(kernel.name, f"{m.case} (warm)", kernel.warm_us[m.case], m.warm_us, m.bound)
        elif m.case in kernel.warm_us:
            tell(f"{kernel.name}: no warm time is predicted for {m.case}")


def with_benchmarks(task: Task, names: tuple[str, ...]) -> Task:
    """Give the task these cases to time; itself where they are among its own. UsageError for what is no shape of it."""
    benchmarks: Mapping[str, Case] = {case.name: case for case in task.benchmarks}
    if set(names) <= benchmarks.keys():
        return task
    cases = tuple(benchmarks[name] if name in benchmarks else _case(task, name) for name in names)
    digest = hashlib.sha256("\0".join((task.digest, *names)).encode()).hexdigest()
    return replace(task, benchmarks=cases, digest=digest)


def _case(task: Task, name: str) -> Case:
    from tasks.extra_shapes import shape_of

    like = (task.benchmarks or task.tests)[0]
    return replace(like, name=name, dims=shape_of(task, name), role="benchmark", weight=1.0)
