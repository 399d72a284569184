"""A candidate that compiled for a GPU, and the same candidate loaded in a child process."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from sandbox.candidate.arguments import BufferArg, ResolvedArg, ScalarArg, StructArg
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.gpu.child_messages import BindRequest, FieldArgument, KernelLaunch, LaunchArgument, Launches, LoadRequest
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.layout import BLOCK, Layout, lay_out
from tasks.dtypes import size_bytes
from tasks.task import Case, Task, TensorSpec

DEADLINE_S = 10.0  # for one call; a kernel that takes longer is taken for endless
SPREAD_BYTES = 2 << 20  # the arena begins somewhere in so many bytes, which a driver aligns large allocations to


class NamedKernel(Protocol):
    """A kernel by its name in the source and its symbol in the image."""

    @property
    def name(self) -> str:
        """In the source."""

    @property
    def symbol(self) -> str:
        """In the image."""


@dataclass(frozen=True)
class CompiledCandidate:
    """A prepared candidate and its image."""

    prepared: Prepared
    build: DeviceBuild

    @property
    def is_nondeterministic(self) -> bool:
        """Its plan declares that the same inputs may give other bits."""
        return self.prepared.candidate.plan.nondeterministic

    @property
    def variable_bytes(self) -> int:
        """Bytes of the device variables that are found by name."""
        return sum(nbytes for _, nbytes in self.build.globals)

    def launches(self, case: Case) -> Launches:
        """Make its launches for the child: symbols instead of names, workspaces under names of their own."""
        return launches_of(self.prepared.plan(case), self.build.kernels)

    def load(self, child: ChildProcess, tag: str, deadline_s: float = DEADLINE_S) -> LoadedCandidate:
        """Load it in a child process under a tag."""
        variables = tuple(name for name, _ in self.build.globals)
        child.load(LoadRequest(tag, variables, has_hidden=self.build.hidden_bytes > 0), self.build.image)
        return LoadedCandidate(child, tag, self, random.SystemRandom(), deadline_s)


@dataclass(frozen=True)
class LoadedCandidate:
    """A compiled candidate in a child process."""

    child: ChildProcess
    tag: str
    compiled: CompiledCandidate
    rng: random.Random  # secret
    deadline_s: float = DEADLINE_S  # for one call

    @property
    def task(self) -> Task:
        """The task it is a candidate for."""
        return self.compiled.prepared.task

    def bind(self, layout: Layout, inputs: int, sets: int, is_whole: bool) -> None:
        """Allocate for a case at an address that nobody can foretell; `inputs` is a file with both bases' inputs.

        In half of the cases one buffer lies as evenly as a driver's large allocation does.
        """
        skip = BLOCK * 16 * self.rng.randrange(SPREAD_BYTES // (BLOCK * 16))
        if layout.places and self.rng.random() < 0.5:
            skip = -self.rng.choice(layout.places).offset % SPREAD_BYTES
        self.child.bind(BindRequest(layout, sets, is_whole, self.rng.getrandbits(63), skip), inputs)


def launches_of(plan: ResolvedPlan, kernels: Sequence[NamedKernel], prefix: str = "") -> Launches:
    """Put the launches of a plan into numbers, on buffers whose names begin with `prefix`."""
    symbols = {k.name: k.symbol for k in kernels}
    return tuple(
        KernelLaunch(
            symbols.get(launch.kernel, launch.kernel),
            launch.grid,
            launch.block,
            launch.lds_bytes,
            tuple(_argument(argument, prefix) for argument in launch.args),
            launch.cooperative,
        )
        for launch in plan.launches
    )


def layout_of(task: Task, case: Case, *candidates: CompiledCandidate) -> Layout:
    """Lay out the task's buffers and the workspaces of all candidates; a name they share has the larger size."""
    return lay_out(buffers_of(task, case, *(compiled.prepared.plan(case) for compiled in candidates)))


def buffers_of(task: Task, case: Case, *plans: ResolvedPlan) -> list[tuple[str, str, int]]:
    """List name, role and bytes of the task's buffers, and of the workspaces of all these plans."""
    filled = task.initials
    tensors = [
        (filled.get(s.name, s.name), "inout" if s.name in filled else "input", _bytes(task, s, case))
        for s in task.inputs_of(case)
    ]
    tensors += [(s.name, "output", _bytes(task, s, case)) for s in task.outputs if not s.initial]
    spaces: dict[str, int] = {}
    for plan in plans:
        for name, (dtype, shape) in plan.workspaces.items():
            spaces[name] = max(spaces.get(name, 0), prod(shape) * size_bytes(dtype))
    return [*tensors, *((name, "workspace", nbytes) for name, nbytes in spaces.items())]


def _bytes(task: Task, spec: TensorSpec, case: Case) -> int:
    return task.length_of(spec, case) * size_bytes(spec.dtype)


def _argument(argument: ResolvedArg, prefix: str) -> LaunchArgument:
    match argument:
        case BufferArg(name=name, offset=offset):
            return LaunchArgument(buffer=prefix + name, offset=offset)
        case ScalarArg(dtype=dtype, value=value):
            return LaunchArgument(dtype=dtype, value=value)
        case StructArg(fields=fields, size=size):
            return LaunchArgument(fields=tuple(_field(start, leaf, prefix) for start, leaf in fields), size=size)
    return LaunchArgument(dtype="i64")  # null


def _field(start: int, leaf: ResolvedArg, prefix: str) -> FieldArgument:
    argument = _argument(leaf, prefix)
    return FieldArgument(start, argument.buffer, argument.dtype, argument.value, argument.offset)
