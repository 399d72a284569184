"""Functions of the device headers as kernels that the machine lab executes, one work-item an element."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from tests.support.lab_bench import build, lab, launch

FOLDER = Path(__file__).parents[1] / "data" / "headers"
_KERNEL = re.compile(r"^EACH(?:_OF)?\((?:unsigned, )?(\w+),", re.MULTILINE)
_BLOCK = 256


class HeaderKernels:
    """All kernels of one file, which is compiled once; each takes (x, y, out, n), all of one type."""

    def __init__(self, file: str, dtype: npt.DTypeLike) -> None:
        """Build a file of tests/data/headers, whose kernels are written EACH(name, ...) or EACH_OF(unsigned, ...)."""
        source = (FOLDER / file).read_text()
        names = _KERNEL.findall(source)
        program = build(source, [launch(name, ["x", "y", "out", 1]) for name in names])
        assert isinstance(program, LabProgram), program
        self._program, self._dtype = program, np.dtype(dtype)

    def call(self, name: str, x: Any, y: Any = 0, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """What a kernel makes of the numbers, which are converted to the type of the file, or to the given one."""
        kind = self._dtype if dtype is None else np.dtype(dtype)
        first, second = (np.ascontiguousarray(a, kind) for a in np.broadcast_arrays(x, y))
        blocks = -(-first.size // _BLOCK)
        plan = ResolvedPlan((launch(name, ["x", "y", "out", first.size], [blocks], [_BLOCK]),), {})
        buffers = [
            Buffer("x", first, "input"),
            Buffer("y", second, "input"),
            Buffer("out", np.zeros_like(first), "output"),
        ]
        request = ExecutionRequest(self._program, plan, buffers, deadline_s=20.0, probes=False)
        execution = lab().execute(request)
        assert not execution.findings, execution.findings
        return execution.outputs["out"]
