"""A kernel executed by the lab on tensors of the processor: what an applied model computes, without a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import LabError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab import ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.lab_verify import task_buffers
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.dtypes import Array, numpy_dtype
from tasks.loader import load_task
from tasks.task import Case

TARGET = "mi300x"
DEADLINE_S = 120.0


class LabKernel:
    """One kernel with its task, compiled at the first call."""

    def __init__(self, source: Path, task: Path, tunables: Mapping[str, int], cache: Path | None = None) -> None:
        """Read the kernel; the compiler's and the interpreter's files go into `cache`."""
        self._task = load_task(task, TARGET)
        self._prepared = prepare(source.read_text(encoding="utf-8"), self._task, tunables or None)
        self._cache = cache or Path.home() / ".cache" / "kernel-scientist"
        self._lab: MachineLab | None = None
        self._programs = dict[str, LabProgram]()

    def __call__(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> list[Array]:
        """Compute the outputs; LabError where the lab finds a fault in the kernel."""
        task = self._task
        case = Case("applied", dims, 0, scalars={s.name: s.value for s in task.scalars if s.value is not None})
        prepared = self._prepared.arm(case).prepared if self._prepared.arms else self._prepared
        program = self._programs.get(prepared.id) or self._programs.setdefault(prepared.id, self._built(prepared))
        plan = prepared.plan(case)
        inputs_by_name = {spec.name: array for spec, array in zip(task.inputs_of(case), arrays, strict=True)}
        buffers = task_buffers(task, case, plan, inputs_by_name)
        execution = self._machine().execute(ExecutionRequest(program, plan, buffers, DEADLINE_S))
        if execution.findings:
            raise LabError(f"the lab stops {task.name}: {execution.findings[0].message}")
        return [spec.unflatten(execution.outputs[spec.name], task.shape_of(spec, case)) for spec in task.outputs]

    def on_tensors(self, case_of: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
        """Make a function of PyTorch's tensors, followed by sizes, of which `case_of` gives the verified case."""
        import torch

        def computed(*arguments: Any) -> Any:
            tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
            case = case_of(tensors)
            arrays = [_array(torch, t, spec.dtype) for t, spec in zip(tensors, self._task.inputs, strict=True)]
            outputs = []
            for array, layout in zip(self(arrays, case.dims), case.outputs, strict=True):
                output = torch.empty_strided(layout.shape, layout.stride, dtype=layout.dtype)
                output.copy_(_tensor(torch, array, layout.dtype).reshape(layout.shape))
                outputs.append(output)
            return outputs[0] if len(outputs) == 1 else tuple(outputs)

        return computed

    def _machine(self) -> MachineLab:
        if self._lab is None:
            toolchain = find_toolchain(self._cache / "toolchain")
            self._lab = MachineLab(toolchain, self._cache / "kernels", load_target(TARGET))
        return self._lab

    def _built(self, prepared: Any) -> LabProgram:
        built = self._machine().build(prepared.candidate, prepared.tunables)
        if not isinstance(built, LabProgram):
            raise LabError(f"the kernel of {self._task.name} does not compile: {built[0].message}")
        return built


def _array(torch: Any, tensor: Any, dtype: str) -> Array:
    """Copy a tensor's values as the task's type; PyTorch gives NumPy no bf16 and no fp8, but their bytes."""
    dense = tensor.detach().contiguous().reshape(math.prod(tensor.shape))
    return np.array(dense.view(torch.uint8).numpy()).view(numpy_dtype(dtype)).reshape(tuple(tensor.shape))


def _tensor(torch: Any, array: Array, dtype: Any) -> Any:
    dense = np.ascontiguousarray(array)
    return torch.from_numpy(np.array(dense.reshape(-1).view(np.uint8))).view(dtype).reshape(tuple(dense.shape))
