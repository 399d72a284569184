"""A candidate that compiled for a GPU, and what the child must be told to launch it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import BufferArg
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.layout import Layout, lay_out
from tasks.dtypes import size_bytes
from tasks.task import Case, Task


@dataclass(frozen=True)
class CompiledCandidate:
    """One side of a trial."""

    prepared: Prepared
    build: DeviceBuild

    @property
    def variables(self) -> list[str]:
        """Symbols of its device variables, which keep their contents from launch to launch."""
        return [name for name, _ in self.build.globals]

    def launches(self, case: Case) -> list[dict[str, Any]]:
        """Its launches for the child: symbols instead of names, workspaces under names of their own."""
        symbols = {k.name: k.symbol for k in self.build.kernels}
        return [
            {
                "kernel": symbols.get(launch.kernel, launch.kernel),
                "grid": list(launch.grid),
                "block": list(launch.block),
                "lds_bytes": launch.lds_bytes,
                "args": [["buffer", a.name] if isinstance(a, BufferArg) else [a.dtype, a.value] for a in launch.args],
            }
            for launch in self.prepared.plan(case).launches
        ]


def layout_of(task: Task, case: Case, *entries: CompiledCandidate) -> Layout:
    """Places for the task's buffers and for the workspaces of all entries; a name they share has the larger size."""
    tensors = [
        (s.name, role, prod(task.shape_of(s, case)) * size_bytes(s.dtype))
        for role, specs in (("input", task.inputs), ("output", task.outputs))
        for s in specs
    ]
    spaces: dict[str, int] = {}
    for entry in entries:
        for name, (dtype, shape) in entry.prepared.plan(case).workspaces.items():
            spaces[name] = max(spaces.get(name, 0), prod(shape) * size_bytes(dtype))
    return lay_out([*tensors, *((name, "workspace", nbytes) for name, nbytes in spaces.items())])
