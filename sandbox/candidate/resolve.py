"""A plan made concrete for one case: numbers for every expression, a value for every argument."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from records.errors import PlanError
from sandbox.candidate.plan import Candidate, Launch
from tasks.expressions import evaluate, names_in
from tasks.task import Case, Task

MAX_CHOICES = 4096
MAX_WORKSPACE_BYTES = 8 << 30
DTYPE_BYTES: Mapping[str, int] = {
    "f64": 8,
    "f32": 4,
    "f16": 2,
    "bf16": 2,
    "e4m3fnuz": 1,
    "e5m2fnuz": 1,
    "e4m3fn": 1,
    "e5m2": 1,
    "i64": 8,
    "i32": 4,
    "i16": 2,
    "i8": 1,
    "u8": 1,
    "bool": 1,
}
_SCANNED = 1 << 16
_EVALUATED = 20_000  # constraints that are computed in a search; a second's work


@dataclass(frozen=True)
class BufferArg:
    """A pointer to an input, an output or a workspace."""

    name: str


@dataclass(frozen=True)
class ScalarArg:
    """A value passed by copy; `dtype` is one of the task's dtypes."""

    dtype: str
    value: int | float


@dataclass(frozen=True)
class ResolvedLaunch:
    """One launch in numbers: blocks, threads per block, dynamic LDS bytes, arguments in order."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int
    args: tuple[BufferArg | ScalarArg, ...]
    line: int | None = None  # where [[launch]] stands in the file

    @property
    def threads(self) -> int:
        """Work-items of one block."""
        return math.prod(self.block)


@dataclass(frozen=True)
class ResolvedPlan:
    """All launches in order, and the workspaces they need: name to (dtype, shape), contents undefined."""

    launches: tuple[ResolvedLaunch, ...]
    workspaces: Mapping[str, tuple[str, tuple[int, ...]]]


def resolve(candidate: Candidate, task: Task, case: Case, tunables: Mapping[str, int] | None = None) -> ResolvedPlan:
    """Numbers for one case and one choice of tunables (missing ones take their default).

    PlanError for a tunable that is not on its list, a constraint that does not hold, a size that is zero or negative,
    a value that does not fit its argument, or workspaces beyond 8 GiB.
    """
    plan = candidate.plan
    chosen = {**candidate.defaults(), **(tunables or {})}
    for name, value in chosen.items():
        if name not in plan.tunables:
            raise PlanError(f"the plan has no tunable {name!r}")
        if value not in plan.tunables[name]:
            raise PlanError(f"the tunable {name} may not be {value}; its values are {list(plan.tunables[name])}")
    names = {**case.dims, **chosen}
    for name, text in plan.constraints.items():
        if not evaluate(text, names):
            raise PlanError(f"the constraint {name} ({text}) does not hold on the case {case.name} with {chosen}")
    workspaces = {}
    for workspace in plan.workspaces:
        shape = tuple(evaluate(text, names) for text in workspace.shape)
        if min(shape) < 1:
            raise PlanError(
                f"the workspace {workspace.name} has the shape {shape} on the case {case.name}; "
                "every extent must be at least 1"
            )
        if math.prod(shape) * DTYPE_BYTES[workspace.dtype] > MAX_WORKSPACE_BYTES:
            raise PlanError(f"the workspace {workspace.name} is larger than 8 GiB on the case {case.name}")
        workspaces[workspace.name] = (workspace.dtype, shape)
    together = sum(math.prod(shape) * DTYPE_BYTES[dtype] for dtype, shape in workspaces.values())
    if together > MAX_WORKSPACE_BYTES:
        raise PlanError(f"the workspaces need {together} bytes together on the case {case.name}; at most 8 GiB")
    buffers = {t.name for t in (*task.inputs, *task.outputs)} - set(task.initials) | set(workspaces)
    launches = tuple(_launch(launch, task, case, names, buffers) for launch in plan.launches)
    return ResolvedPlan(launches, workspaces)


def _launch(launch: Launch, task: Task, case: Case, names: Mapping[str, int], buffers: set[str]) -> ResolvedLaunch:
    lds = evaluate(launch.lds, names)
    if lds < 0:
        raise PlanError(f"lds of {launch.kernel} is {lds} on the case {case.name}; it must be at least 0", launch.line)
    return ResolvedLaunch(
        launch.kernel,
        _extent("grid", launch.grid, launch, case, names),
        _extent("block", launch.block, launch, case, names),
        lds,
        tuple(_argument(text, launch, task, case, names, buffers) for text in launch.args),
        launch.line,
    )


def _extent(
    what: str, texts: tuple[str, ...], launch: Launch, case: Case, names: Mapping[str, int]
) -> tuple[int, int, int]:
    values = [evaluate(text, names) for text in texts]
    for text, value in zip(texts, values, strict=True):
        if value < 1:
            raise PlanError(
                f"{what} of {launch.kernel} is {value} ({text}) on the case {case.name}; it must be at least 1",
                launch.line,
            )
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _argument(
    text: str, launch: Launch, task: Task, case: Case, names: Mapping[str, int], buffers: set[str]
) -> BufferArg | ScalarArg:
    name, _, width = text.partition(":")
    if name in case.absent:
        return ScalarArg("i64", 0)  # a null pointer
    if name in buffers:
        return BufferArg(name)
    if name in names:
        dtype = width or "i32"
        bits = 64 if dtype == "i64" else 32
        if not -(1 << bits - 1) <= names[name] < 1 << bits - 1:
            raise PlanError(
                f"{name} is {names[name]} on the case {case.name}, too large for a 32-bit int; "
                f"write {name}:i64 in the args of {launch.kernel}",
                launch.line,
            )
        return ScalarArg(dtype, names[name])
    for scalar in task.scalars:
        if scalar.name == name:
            return ScalarArg(scalar.dtype, case.scalars.get(name, scalar.value or 0))
    raise PlanError(f"the argument {name!r} of {launch.kernel} is not known", launch.line)


def choices(candidate: Candidate, task: Task) -> tuple[dict[str, int], ...]:
    """Every combination of tunables that the constraints allow on all test and benchmark cases, the default first.

    At most 4096 are given, and at most 65536 are looked at, fewer where constraints depend on many tunables.
    """
    plan = candidate.plan
    rules = [_Rule(text, task) for text in plan.constraints.values()]
    found: list[dict[str, int]] = []
    for values in itertools.islice(itertools.product(*plan.tunables.values()), _SCANNED):
        choice = dict(zip(plan.tunables, values, strict=True))
        if all(rule.allows(choice) for rule in rules):
            found.append(choice)
            if len(found) == MAX_CHOICES:
                break
        if sum(len(rule.said) for rule in rules) > _EVALUATED:
            break
    return tuple(found)


class _Rule:
    """One constraint over all cases; remembers what it said for the tunables it really depends on."""

    def __init__(self, text: str, task: Task) -> None:
        self.text = text
        self.needs = names_in(text)
        cases = (*task.tests, *task.benchmarks)
        self.dims = {tuple(sorted((n, v) for n, v in case.dims.items() if n in self.needs)) for case in cases}
        self.said: dict[tuple[int, ...], bool] = {}

    def allows(self, choice: Mapping[str, int]) -> bool:
        mine = {name: value for name, value in choice.items() if name in self.needs}
        key = tuple(mine.values())
        if key not in self.said:
            self.said[key] = all(evaluate(self.text, {**dict(dims), **mine}) for dims in self.dims)
        return self.said[key]
