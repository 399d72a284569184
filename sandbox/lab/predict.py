"""Predicted times: counters of a few workgroups of each benchmark case, and the bound they give.

Only addresses and control flow are counted, so to rank, a small case's values are repeated for inputs. The result is a
bound called a prediction; no clock of a GPU is involved.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from records.codec import dumps
from records.evaluation import Finding, HotLine, Measurement, Resources
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.listing import plain_listing
from sandbox.candidate.prepare import Prepared
from sandbox.lab.cost.bound import TimeBound, bound
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.hot_lines import hot_lines
from sandbox.lab.cost.occupancy import l1_sharers
from sandbox.lab.counted_case import Counted, CountedCase
from sandbox.lab.execution_budget import ExecutionBudget
from sandbox.lab.lab import Buffer, Lab
from sandbox.lab.lab_verify import Built
from sandbox.lab.overlap import overlapping
from sandbox.target import Target
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
) -> Prediction:
    """Count and bound every benchmark case, within a budget of processor time.

    A verdict counts on `drawn` inputs of each case, which no kernel can know; without them a small case's values, which
    anybody can draw, are repeated, and fewer workgroups are met, which is enough to rank.
    """
    seed = int(same_times(built.prepared, built.compilation)[:16], 16)
    task, code = built.prepared.task, {k.name: k.blocks for k in built.compilation.kernels}

    def count(case: Case) -> Counted:
        if findings := budget.exceeded_before(case.name) if budget else ():
            return (), findings
        inputs = tuple(b for b in (drawn or partial(_stored, lab, task))(case) if b.role == "input")
        sharers = l1_sharers(built.prepared.plan(case), resources, code, target)
        return CountedCase(lab, built, case, inputs, sharers, seed, is_rough=drawn is None).run()

    measurements: list[Measurement] = []
    bounds: list[TimeBound] = []
    counters: Counter[str] = Counter()
    by_kernel: dict[str, Counter[str]] = {}
    launches: list[LaunchCounters] = []
    for case, (counted, findings) in zip(task.benchmarks, overlapping(task.benchmarks, count), strict=False):
        if findings:
            return Prediction((), {}, "", findings)
        flops, compulsory_bytes = task.work(case)
        plan = built.prepared.plan(case)
        limit = bound(counted, resources, plan, target, compulsory_bytes, flops, task.peak, code)
        for launch in counted:
            counters.update(launch.counters)
            by_kernel.setdefault(launch.kernel, Counter()).update(launch.counters)
        launches += counted
        bounds.append(limit)
        measurements.append(measurement(case, limit, target, target.roofline_us(flops, compulsory_bytes, task.peak)))
    slowest = max(range(len(bounds)), key=lambda i: bounds[i].time_us)
    return Prediction(
        tuple(measurements),
        dict(counters),
        f"{task.benchmarks[slowest].name}: {bounds[slowest].explanation}",
        kernel_counters=by_kernel,
        hot_lines=hot_lines(launches),
    )


def measurement(case: Case, limit: TimeBound, target: Target, roofline_us: float) -> Measurement:
    """A predicted time: never below the speed of light, with itself as its interval."""
    time_us = max(limit.time_us, roofline_us)
    return Measurement(
        case=case.name,
        time_us=time_us,
        kind="predicted",
        device=f"lab:{target.name}",
        ci_low_us=time_us,
        ci_high_us=time_us,
        samples=1,
        weight=case.weight,
        bound=limit.resource,
        resources_us=dict(limit.resources_us),
        roofline_us=roofline_us,
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
