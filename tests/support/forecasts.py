"""What the tests of the clock share: the expected time of a kernel on an MI300X, from its source and its launches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from records.evaluation import Resources
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.cost.clock import TimelineRequest, needed_clock
from sandbox.lab.cost.forecast import PlanForecast, forecast
from sandbox.lab.cost.neighbours import neighbours
from sandbox.lab.cost.occupancy import occupancies, residencies
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.workgroups import drawn
from sandbox.target import Target, load_target
from tests.support.lab_bench import HEAD, build, lab

MI300X = load_target("mi300x")
FEW = 3


def forecast_of(
    source: str,
    launches: Sequence[ResolvedLaunch],
    elements: int = 1 << 20,
    resources: Sequence[Resources] = (),
    target: Target = MI300X,
) -> PlanForecast:
    """Give the expected time of launches on buffers `x` and `y` of so many floats; three workgroups are recorded."""
    plan, clock = ResolvedPlan(tuple(launches), {}), needed_clock(target)
    resident = residencies(plan, resources, target)
    near = (
        neighbours(launch.grid, round(r.units * min(r.resident, r.workgroups)), round(clock.chiplets))
        for launch, r in zip(launches, resident, strict=True)
    )
    rng, totals = np.random.default_rng(1), [launch.grid[0] * launch.grid[1] * launch.grid[2] for launch in launches]
    workgroups = tuple(
        drawn(launch.grid, FEW, 0, rng, frozenset()) if total > FEW else None
        for launch, total in zip(launches, totals, strict=True)
    )
    buffers = (
        Buffer("x", np.zeros(elements, np.float32), "input"),
        Buffer("y", np.empty(elements, np.float32), "output"),
    )
    request = ExecutionRequest(
        build(HEAD + source, launches),
        plan,
        buffers,
        20.0,
        count=True,
        workgroups=workgroups,
        recorded=FEW,
        timeline=TimelineRequest(clock, resident, tuple(near)),
    )
    execution = lab().execute(request)
    assert execution.findings == ()
    occupied = occupancies(execution.launches, plan, resources, target)
    return forecast(list(zip(execution.launches, occupied, strict=True)), clock, target)
