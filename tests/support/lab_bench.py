"""What the lab's tests share: one lab, one small candidate around a kernel, one call."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest, Lab, LabProgram
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience, patience_for
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.stored_inputs import Stored
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, taking_turns, toolchain

CORES = max(1, len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
HEAD = "#include <hip/hip_runtime.h>\n"


@cache
def lab() -> Lab:
    """One lab for all tests; its compiler cache is kept between runs."""
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)


@cache
def evaluator(seed: int, patience: Patience | None = None, *, exact: bool = False) -> LabEvaluator:
    """The lab as a sandbox; what one test of a process has verified, another gets from memory.

    Fewer inputs are made for a candidate than by default: tests of that ask for the usual patience.
    """
    usual = replace(patience_for(exact), searched_s=0.8)
    target, limits = load_target("mi300x"), patience or usual
    return LabEvaluator(toolchain(), COMPILED, target, seed, cores=CORES, patience=limits, exact=exact)


def launch(
    kernel: str,
    args: Sequence[str | int | float],
    grid: Sequence[int] = (1,),
    block: Sequence[int] = (64,),
    lds: int = 0,
) -> ResolvedLaunch:
    """A launch whose arguments are buffer names, ints or floats."""
    gx, gy, gz = (*grid, 1, 1)[:3]
    bx, by, bz = (*block, 1, 1)[:3]
    arguments = [
        BufferArg(a) if isinstance(a, str) else ScalarArg("i32" if isinstance(a, int) else "f32", a) for a in args
    ]
    return ResolvedLaunch(kernel, (gx, gy, gz), (bx, by, bz), lds, tuple(arguments))


def build(source: str, launches: Sequence[ResolvedLaunch]) -> Any:
    """The program, or its findings; of many kernels, a process makes it for all others that wait for it."""
    return _built(source, tuple((x.kernel, len(x.args)) for x in launches))


@cache
def _built(source: str, launches: tuple[tuple[str, int], ...]) -> Any:
    plan = Plan(tuple(Launch(kernel, ("1",), ("1",), "0", ("a",) * count, 1) for kernel, count in launches))
    digest = hashlib.sha256(source.encode()).hexdigest()
    with taking_turns(digest):
        return lab().build(Candidate(digest, source, plan), {})


def execute(
    source: str,
    launches: Sequence[ResolvedLaunch],
    inputs: Mapping[str, npt.NDArray[Any] | Stored] | None = None,
    outputs: dict[str, npt.NDArray[Any]] | None = None,
    workspaces: dict[str, npt.NDArray[Any]] | None = None,
    *,
    count: bool = False,
    blocks: int | None = None,
    deadline_s: float = 20.0,
    exact: bool = False,
    l1_sharers: int = 1,
    workgroups: tuple[tuple[int, ...] | None, ...] = (),
    program_of: Sequence[ResolvedLaunch] = (),
) -> Execution:
    """Build and run; the source must build. `program_of`: launches of all its kernels, where others are run as well."""
    text = HEAD + source
    program = build(text, program_of or launches)
    assert isinstance(program, LabProgram), program
    buffers = [
        Buffer(n, a, role)
        for role, group in (("input", inputs), ("output", outputs), ("workspace", workspaces))
        for n, a in (group or {}).items()
    ]
    return lab().execute(
        ExecutionRequest(
            program,
            ResolvedPlan(tuple(launches), {}),
            buffers,
            count=count,
            blocks=blocks,
            deadline_s=deadline_s,
            exact=exact,
            l1_sharers=l1_sharers,
            workgroups=workgroups,
        )
    )


def marked_line(source: str, mark: str = "// here") -> int:
    """The line of the whole file that carries the mark."""
    lines = (HEAD + source).split("\n")
    numbers = [n for n, line in enumerate(lines, 1) if mark in line]
    assert len(numbers) == 1, numbers
    return numbers[0]


def floats(count: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Random numbers in [0, 1)."""
    return np.random.default_rng(seed).random(count, np.float32)
