"""A plan made concrete for one case: numbers for every expression, a value for every argument."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from records.errors import PlanError
from sandbox.candidate.arguments import (
    DTYPE_BYTES,
    UNSIGNED,
    BufferArg,
    NullArg,
    ResolvedArg,
    ScalarArg,
    Scope,
    StructArg,
)
from sandbox.candidate.instances import STEP_BYTES, STEP_ITEMS, with_tunables
from sandbox.candidate.meta_values import ResolvedMeta, resolve_meta
from sandbox.candidate.plan import CONTENTS, COPY, Candidate, Launch
from sandbox.candidate.plan_turns import turns
from tasks.dtypes import stored
from tasks.expressions import evaluate, names_in
from tasks.task import Case, Task

__all__ = ["DTYPE_BYTES", "BufferArg", "NullArg", "ResolvedLaunch", "ResolvedPlan", "ScalarArg", "StructArg"]
MAX_CHOICES = 4096
MAX_LAUNCHES = 1024  # of one call, all turns of all loops together
MAX_WORKSPACE_BYTES = 8 << 30
_SCANNED = 1 << 16
MOST_BLOCKS = 64  # that write a device variable
_EVALUATED = 20_000  # constraints that are computed in a search; a second's work


@dataclass(frozen=True)
class ResolvedLaunch:
    """One launch in numbers: blocks, threads per block, dynamic LDS bytes, arguments in order."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int
    args: tuple[ResolvedArg, ...]
    line: int | None = None  # where [[launch]] stands in the file
    cooperative: bool = False  # all its workgroups run at once
    meta: ResolvedMeta | None = None  # of a kernel of Triton's

    @property
    def threads(self) -> int:
        """Work-items of one block."""
        return math.prod(self.block)


@dataclass(frozen=True)
class ResolvedPlan:
    """All launches in order, and the workspaces they need: name to (dtype, shape), contents undefined."""

    launches: tuple[ResolvedLaunch, ...]
    workspaces: Mapping[str, tuple[str, tuple[int, ...]]]

    @property
    def has_parts(self) -> bool:
        """True where a workgroup can be executed without the others: nothing passes from one to another."""
        return len(self.launches) == 1 and not self.workspaces and not self.launches[0].cooperative


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
    resolver = _Resolver(task, case, names, workspaces)
    launches = list[ResolvedLaunch]()
    for launch, turn in turns(plan.launches, names):
        if len(launches) == MAX_LAUNCHES:
            raise PlanError(f"the plan has more than {MAX_LAUNCHES} launches on the case {case.name}", launch.line)
        launches.append(resolver.launch(launch, turn, chosen))
    if plan.launches and not launches:
        raise PlanError(f"the plan launches nothing on the case {case.name}", plan.launches[0].line)
    return ResolvedPlan(tuple(launches), workspaces)


class _Resolver:
    """The launches of one case in numbers."""

    def __init__(
        self, task: Task, case: Case, names: Mapping[str, int], workspaces: Mapping[str, tuple[str, tuple[int, ...]]]
    ) -> None:
        self._case = case
        tensors = [t for t in (*task.inputs, *task.outputs) if t.name not in task.initials]
        self._buffers = {t.name: (t.dtype, task.length_of(t, case)) for t in tensors if t.name not in case.absent}
        self._buffers |= {name: (dtype, math.prod(shape)) for name, (dtype, shape) in workspaces.items()}
        sizes = {name: DTYPE_BYTES[dtype] for name, (dtype, _) in self._buffers.items()}
        scalars = {s.name: replace(s, value=case.scalars.get(s.name, s.value or 0)) for s in task.scalars}
        self._scope = Scope(names, scalars, sizes, frozenset(case.absent))

    def launch(self, launch: Launch, turn: Mapping[str, int], tunables: Mapping[str, int]) -> ResolvedLaunch:
        """One turn of one launch; `turn` holds all integers that it may name."""
        scope, case = replace(self._scope, names=turn), self._case
        try:
            if launch.is_step:
                return self._step(launch)
            lds = evaluate(launch.lds, turn)
            if lds < 0:
                raise PlanError(f"lds of {launch.kernel} is {lds} on the case {case.name}; it must be at least 0")
            args = tuple(scope.resolve(argument) for argument in launch.args)
            self._check_pointers(args)
            if launch.kernel.startswith(f"{CONTENTS}<"):
                return self._contents(launch, args[0])
            return ResolvedLaunch(
                with_tunables(launch.kernel, tunables),
                _extent("grid", launch.grid, launch, case, turn),
                _extent("block", launch.block, launch, case, turn),
                lds,
                args,
                launch.line,
                launch.cooperative,
                resolve_meta(launch.meta, scope, launch.args, args) if launch.meta else None,
            )
        except PlanError as error:
            if error.line is not None:
                raise
            raise PlanError(f"{error} in the launch of {launch.kernel} on the case {case.name}", launch.line) from None

    def _check_pointers(self, args: tuple[ResolvedArg, ...]) -> None:
        """Refuse a pointer behind the end of its buffer."""
        leaves = [
            leaf
            for argument in args
            for leaf in (_leaves(argument) if isinstance(argument, StructArg) else (argument,))
        ]
        for leaf in leaves:
            if isinstance(leaf, BufferArg) and leaf.offset > self._bytes(leaf.name):
                raise PlanError(f"an argument points {leaf.offset} bytes into {leaf.name}, which is shorter")

    def _step(self, launch: Launch) -> ResolvedLaunch:
        """Turn a fill or a copy into a launch of the judge's own kernel."""
        to, operand = (str(argument) for argument in launch.args[:2])
        size = self._bytes(to)
        args: tuple[ResolvedArg, ...] = (BufferArg(to), BufferArg(operand), ScalarArg("i64", size))
        if launch.kernel == COPY:
            if self._bytes(operand) != size:
                raise PlanError(f"copy: {to} has {size} bytes and {operand} has {self._bytes(operand)}")
        else:
            word = fill_word(operand, self._buffers[to][0])
            args = (BufferArg(to), ScalarArg("i64", word), ScalarArg("i64", size))
        blocks = -(-size // (STEP_BYTES * STEP_ITEMS))
        return ResolvedLaunch(launch.kernel, (blocks, 1, 1), (STEP_ITEMS, 1, 1), 0, args, launch.line)

    def _contents(self, launch: Launch, pointer: ResolvedArg) -> ResolvedLaunch:
        """Fill a device variable with what a buffer holds from an offset on, as far as both reach."""
        if not isinstance(pointer, BufferArg):
            raise PlanError(f'symbol: {launch.args[0]!r} is no buffer; a value stands in a list, as in ["n"]')
        size = self._bytes(pointer.name) - pointer.offset
        blocks = min(MOST_BLOCKS, max(1, -(-size // (STEP_BYTES * STEP_ITEMS))))
        args = (pointer, ScalarArg("i64", size))
        return ResolvedLaunch(launch.kernel, (blocks, 1, 1), (STEP_ITEMS, 1, 1), 0, args, launch.line)

    def _bytes(self, name: str) -> int:
        if name not in self._buffers:
            raise PlanError(f"fill and copy need {name}, which this case does not give")
        dtype, elements = self._buffers[name]
        return elements * DTYPE_BYTES[dtype]


def _leaves(argument: StructArg) -> tuple[ResolvedArg, ...]:
    return tuple(leaf for _, leaf in argument.fields)


def fill_word(number: str, dtype: str) -> int:
    """Eight bytes of elements with this value, as an integer; PlanError where the type has no such value.

    Types without a sign have become those with the same bits, so a whole number may fit as either.
    """
    try:
        value = int(number) if number.lstrip("-").isdigit() else float(number)
        bits = 8 * DTYPE_BYTES[dtype]
        if dtype in UNSIGNED.values() and 1 << (bits - 1) <= value < 1 << bits:
            value = int(value) - (1 << bits)
        item = stored(value, dtype)
    except (OverflowError, ValueError):
        raise PlanError(f"fill: {number} is no value of {dtype}") from None
    return int.from_bytes(item.tobytes() * (STEP_BYTES // item.itemsize), "little", signed=True)


def _extent(
    kind: str, texts: tuple[str, ...], launch: Launch, case: Case, names: Mapping[str, int]
) -> tuple[int, int, int]:
    values = [evaluate(text, names) for text in texts]
    for text, value in zip(texts, values, strict=True):
        if value < 1:
            raise PlanError(
                f"{kind} of {launch.kernel} is {value} ({text}) on the case {case.name}; it must be at least 1",
                launch.line,
            )
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def choices(candidate: Candidate, task: Task) -> tuple[dict[str, int], ...]:
    """Every combination of tunables that the constraints allow on all test and benchmark cases, the default first.

    At most 4096 are given, and at most 65536 are looked at, fewer where constraints depend on many tunables.
    """
    plan = candidate.plan
    rules = [_Rule(text, task) for text in plan.constraints.values()]
    allowed: list[dict[str, int]] = []
    for values in itertools.islice(itertools.product(*plan.tunables.values()), _SCANNED):
        choice = dict(zip(plan.tunables, values, strict=True))
        if all(rule.allows(choice) for rule in rules):
            allowed.append(choice)
            if len(allowed) == MAX_CHOICES:
                break
        if sum(len(rule.answers) for rule in rules) > _EVALUATED:
            break
    return tuple(allowed)


class _Rule:
    """One constraint over all cases; remembers what it said for the tunables it really depends on."""

    def __init__(self, text: str, task: Task) -> None:
        self.text = text
        self.needs = names_in(text)
        cases = (*task.tests, *task.benchmarks)
        self.dims = {tuple(sorted((n, v) for n, v in case.dims.items() if n in self.needs)) for case in cases}
        self.answers: dict[tuple[int, ...], bool] = {}

    def allows(self, choice: Mapping[str, int]) -> bool:
        mine = {name: value for name, value in choice.items() if name in self.needs}
        key = tuple(mine.values())
        if key not in self.answers:
            self.answers[key] = all(evaluate(self.text, {**dict(dims), **mine}) for dims in self.dims)
        return self.answers[key]
