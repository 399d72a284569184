"""One launch as a job for Triton's compiler: types, constants and hints, as its own launch would find them.

A pointer is hinted to be a multiple of 16 where its place in its buffer is one (buffers begin at multiples of 256), and
to have offsets of 32 bits where the buffer has less than 2 GiB; so it is in Triton's launch on AMD's GPUs, where it
decides whether buffer instructions are used. Of whole numbers only those that the plan names choose the code: 1 becomes
a constant, a multiple of 16 is hinted to be one. A null pointer becomes the constant None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from records.errors import PlanError
from sandbox.candidate.arguments import DTYPE_BYTES, REAL_TYPES, BufferArg, NullArg, ResolvedArg, ScalarArg
from sandbox.candidate.meta_values import ConstantValue, TypeValue
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.guests.triton_child import NO_VALUE, ONE
from tasks.task import Case, Task

TYPES: Mapping[str, str] = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    "e4m3fnuz": "fp8e4b8",
    "e5m2fnuz": "fp8e5b16",
    "e4m3fn": "fp8e4nv",
    "e5m2": "fp8e5",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
    "u8": "u8",
    "bool": "u1",
}
ALIGNED, SHORT = "D", "S"  # Triton's own marks
_LARGEST_SHORT = (1 << 31) - 1
_UNIT = 16


@dataclass(frozen=True)
class TritonJob:
    """One specialisation of one kernel; equal jobs give equal code."""

    kernel: str
    arguments: tuple[tuple[str, str], ...]  # type and hints of each that the plan passes
    constants: tuple[tuple[str, ConstantValue], ...]
    options: tuple[tuple[str, int], ...]

    def request(self, arch: str) -> dict[str, Any]:
        """Describe the job as the child reads it."""
        return {
            "kernel": self.kernel,
            "arch": arch,
            "arguments": [list(argument) for argument in self.arguments],
            "constants": {n: {"type": v.name} if isinstance(v, TypeValue) else v for n, v in self.constants},
            "options": dict(self.options),
        }


def buffers_of(task: Task, case: Case, plan: ResolvedPlan) -> dict[str, tuple[str, int]]:
    """Find element type and bytes of every buffer that a launch may name."""
    tensors = {t.name: (t.dtype, task.length_of(t, case)) for t in (*task.inputs, *task.outputs)}
    spaces = {name: (dtype, math.prod(shape)) for name, (dtype, shape) in plan.workspaces.items()}
    return {n: (dtype, length * DTYPE_BYTES[dtype]) for n, (dtype, length) in {**tensors, **spaces}.items()}


def job_of(launch: ResolvedLaunch, buffers: Mapping[str, tuple[str, int]]) -> TritonJob:
    """Describe a launch as a job; PlanError for an argument that no kernel of Triton's takes."""
    meta = launch.meta
    assert meta is not None  # of a launch of Triton's
    arguments = tuple(
        _argument(number, argument, launch, buffers, number in meta.specialised)
        for number, argument in enumerate(launch.args)
    )
    return TritonJob(launch.kernel, arguments, meta.constants, meta.options)


def _argument(
    number: int, argument: ResolvedArg, launch: ResolvedLaunch, buffers: Mapping[str, tuple[str, int]], chooses: bool
) -> tuple[str, str]:
    match argument:
        case BufferArg(name=name, offset=offset):
            dtype, size = buffers[name]
            hints = (ALIGNED if offset % _UNIT == 0 else "") + (SHORT if size <= _LARGEST_SHORT else "")
            return f"*{TYPES[dtype]}", hints
        case NullArg():
            return NO_VALUE, ""
        case ScalarArg(dtype=dtype, value=value):
            if not chooses or dtype in REAL_TYPES:
                return TYPES[dtype], ""
            return (ONE, "") if value == 1 else (TYPES[dtype], "" if int(value) % _UNIT else ALIGNED)
    raise PlanError(
        f"argument {number + 1} of {launch.kernel} is a struct, which no kernel of Triton's takes", launch.line
    )
