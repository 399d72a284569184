"""Predicted times: counters and timelines of a few workgroups of each benchmark case: the expected time and the bound.

Only addresses and control flow are counted, so to rank, a small case's values are repeated for inputs. The result is a
time called a prediction; no clock of a GPU is involved.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from records.codec import dumps
from records.evaluation import Finding, HotLine, Measurement, Resources
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.listing import plain_listing
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.cost.bound import bound_us
from sandbox.lab.cost.clock import Clock, clock_of, needed_clock
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.explanation import explain
from sandbox.lab.cost.forecast import PlanForecast, forecast
from sandbox.lab.cost.hot_lines import hot_lines
from sandbox.lab.cost.occupancy import l1_sharers, occupancies, residencies
from sandbox.lab.counted_case import Counted, CountedCase
from sandbox.lab.execution_budget import ExecutionBudget
from sandbox.lab.lab import Buffer, Lab
from sandbox.lab.lab_verify import Built
from sandbox.lab.overlap import overlapping
from sandbox.target import Target
from tasks.dtypes import numpy_dtype
from tasks.task import Case, Task


@dataclass(frozen=True)
class Prediction:
    """The bounds of all benchmark cases, or the findings of the first case that failed."""

    measurements: tuple[Measurement, ...]
    counters: Mapping[str, float]
    explanation: str
    findings: tuple[Finding, ...] = ()
    kernel_counters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hot_lines: tuple[HotLine, ...] = ()


def predict(
    lab: Lab,
    built: Built,
    target: Target,
    resources: tuple[Resources, ...],
    budget: ExecutionBudget | None = None,
    drawn: Callable[[Case], Iterable[Buffer]] | None = None,
    secret: int = 0,
) -> Prediction:
    """Count and bound every benchmark case, within a budget of processor time.

    A verdict counts on `drawn` inputs of each case, which no kernel can know; without them a small case's values, which
    anybody can draw, are repeated, and fewer workgroups are met, which is enough to rank. `secret` draws the workgroups
    that are counted: a kernel that knew them could leave its work to the others.
    """
    clock, task = needed_clock(target), built.prepared.task

    def count(case: Case) -> Counted:
        if findings := budget.exceeded_before(case.name) if budget else ():
            return (), findings
        return counted_case(lab, built, case, target, resources, drawn, secret).run()

    measurements: list[Measurement] = []
    cases: list[CaseForecast] = []
    counters: Counter[str] = Counter()
    by_kernel: dict[str, Counter[str]] = {}
    for case, (counted, findings) in zip(task.benchmarks, overlapping(task.benchmarks, count), strict=False):
        if findings:
            return Prediction((), {}, "", findings)
        for launch in counted:
            counters.update(launch.counters)
            by_kernel.setdefault(launch.kernel, Counter()).update(launch.counters)
        cases.append(_forecast(task, case, built.prepared.plan(case), counted, resources, clock, target))
        measurements.append(measurement(cases[-1], target))
    slowest = max(cases, key=lambda case_forecast: case_forecast.expected.cold_us)
    return Prediction(
        tuple(measurements),
        dict(counters),
        f"{slowest.case.name}: {explain(slowest.expected, slowest.bound_us, target)}",
        kernel_counters=by_kernel,
        hot_lines=hot_lines([launch for case_forecast in cases for launch in case_forecast.expected.launches]),
    )


def counted_case(
    lab: Lab,
    built: Built,
    case: Case,
    target: Target,
    resources: tuple[Resources, ...],
    drawn: Callable[[Case], Iterable[Buffer]] | None = None,
    secret: int = 0,
) -> CountedCase:
    """Give a benchmark case to count, with timelines; `drawn` and `secret` as for `predict`."""
    with_barriers = {k.name for k in built.compilation.kernels if k.instructions.get("barrier")}
    plan = built.prepared.plan(case)
    seed = _seed(built.prepared.task, case, plan, secret)
    inputs = tuple(b for b in (drawn or partial(_stored, lab, built.prepared.task))(case) if b.role == "input")
    sharers = l1_sharers(plan, resources, with_barriers, target)
    resident = residencies(plan, resources, target)
    return CountedCase(lab, built, case, inputs, sharers, seed, drawn is None, clock_of(target), resident)


def _seed(task: Task, case: Case, plan: ResolvedPlan, secret: int) -> int:
    """Seed of the workgroups that are counted: kernels with the same grids are compared by the same ones."""
    identity = [secret, task.digest, dict(case.dims), [list(launch.grid) for launch in plan.launches]]
    return int(hashlib.sha256(dumps(identity).encode()).hexdigest()[:16], 16)


def footprint_bytes(compulsory_bytes: float, plan: ResolvedPlan) -> float:
    """Give the bytes of all buffers that a plan touches: the task's, and its workspaces."""
    spaces = (numpy_dtype(dtype).itemsize * math.prod(shape) for dtype, shape in plan.workspaces.values())
    return compulsory_bytes + sum(spaces)


@dataclass(frozen=True)
class CaseForecast:
    """One benchmark case: its expected time, the bound, the speed of light of its task."""

    case: Case
    expected: PlanForecast
    bound_us: float
    roofline_us: float


def _forecast(
    task: Task,
    case: Case,
    plan: ResolvedPlan,
    counted: Sequence[LaunchCounters],
    resources: Sequence[Resources],
    clock: Clock,
    target: Target,
) -> CaseForecast:
    flops, compulsory_bytes = task.work(case)
    launch_occupancies = occupancies(counted, plan, resources, target)
    pairs = list(zip(counted, launch_occupancies, strict=True))
    lines = sum(launch.read_lines + launch.written_lines for launch in counted)
    touched = min(footprint_bytes(compulsory_bytes, plan), lines * target.memory["line_bytes"])
    bound = bound_us(pairs, touched, target)
    roofline_us = target.roofline_us(flops, compulsory_bytes, task.peak)
    return CaseForecast(case, forecast(pairs, clock, target), bound, roofline_us)


def measurement(of: CaseForecast, target: Target) -> Measurement:
    """Give a predicted time: the expected one, never below the bound, with the clock's error as its interval."""
    expected = of.expected
    time_us = max(expected.cold_us, of.bound_us)
    return Measurement(
        case=of.case.name,
        time_us=time_us,
        kind="predicted",
        device=f"lab:{target.name}",
        ci_low_us=time_us,
        ci_high_us=time_us,
        samples=1,
        weight=of.case.weight,
        bound=expected.resource,
        resources_us=expected.resources_us,
        roofline_us=of.roofline_us,
        warm_us=max(expected.warm_us, of.bound_us),
        bound_us=of.bound_us,
        error=expected.error,
        stalls_us={name: round(value, 4) for name, value in expected.stalls_us.items()},
    )


def _stored(lab: Lab, task: Task, case: Case) -> tuple[Buffer, ...]:
    return tuple(Buffer(name, data, "input") for name, data in lab.stored_inputs(task).of(case).items())


def same_times(prepared: Prepared, compilation: Compilation) -> str:
    """SHA-256 over everything that an estimate depends on: the listing with its lines, the launches, the task."""
    plans = [prepared.plan(case) for case in prepared.task.benchmarks]
    launches = [[replace(launch, line=None) for launch in plan.launches] for plan in plans]
    parts = [plain_listing(compilation.listing), launches, [dict(plan.workspaces) for plan in plans]]
    task = [prepared.task.digest, [dict(case.dims) for case in prepared.task.benchmarks]]
    return hashlib.sha256(dumps([*parts, *task]).encode()).hexdigest()
