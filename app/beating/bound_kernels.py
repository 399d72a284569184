"""A candidate's file on the GPU of this machine: compiled for a task, its buffers bound for one case."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import ToolchainError
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import DTYPE_BYTES, BufferArg, ResolvedLaunch, ScalarArg, resolve
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.device_memory import Argument, DeviceMemory
from sandbox.gpu.driver.driver import Device
from tasks.task import Case, Task, Tensors, TensorSpec


class File:
    """One kernel file with a choice of tunables, compiled and loaded. ToolchainError with the log where it fails."""

    def __init__(
        self, device: Device, compiler: GpuCompiler, path: Path | str, tunables: Mapping[str, int] | None = None
    ) -> None:
        """`path` is the file's, or its text."""
        self.device, self.path = device, path if isinstance(path, Path) else Path("kernel")
        self.candidate = parse(path.read_text(encoding="utf-8") if isinstance(path, Path) else path)
        self.chosen = {**self.candidate.defaults(), **(tunables or {})}
        build = compiler.compile(self.candidate, self.chosen)
        if build.findings:
            raise ToolchainError(f"{path} does not compile: {build.diagnostics[:2000] or build.findings[0].message}")
        self.symbols = {kernel.name: kernel.symbol for kernel in build.kernels}
        self.module = device.load(build.image)

    def bind(self, task: Task, case: Case, buffers: Mapping[str, DeviceMemory]) -> Bound:
        """Bind the kernel to these buffers, ready to launch; workspaces are allocated."""
        return Bound(self, task, case, buffers)


class Bound:
    """All launches of a plan for one case."""

    def __init__(self, file: File, task: Task, case: Case, buffers: Mapping[str, DeviceMemory]) -> None:
        plan = resolve(file.candidate, task, case, file.chosen)
        self.workspaces = {
            name: file.device.allocate(prod(shape) * DTYPE_BYTES[dtype])
            for name, (dtype, shape) in plan.workspaces.items()
        }
        memory = {**buffers, **self.workspaces}
        self.launches = []
        for launch in plan.launches:
            kernel = file.module.kernel(file.symbols.get(launch.kernel, launch.kernel))
            kernel.allow_dynamic(launch.lds_bytes)
            self.launches.append(
                kernel.prepared(launch.grid, launch.block, launch.lds_bytes, arguments(launch, memory))
            )

    def __call__(self) -> None:
        """Launch all, on the default stream."""
        for start in self.launches:
            start()

    def free(self) -> None:
        """Give the workspaces back."""
        for memory in self.workspaces.values():
            memory.free()


def arguments(launch: ResolvedLaunch, buffers: Mapping[str, DeviceMemory]) -> list[Argument]:
    """List the kernel's arguments."""
    types: dict[str, Any] = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i64": ctypes.c_int64}
    bound: list[Argument] = []
    for a in launch.args:
        if isinstance(a, BufferArg):
            bound.append(buffers[a.name])
        elif isinstance(a, ScalarArg):
            bound.append(types.get(a.dtype, ctypes.c_int)(a.value))
        else:
            raise TypeError("a benchmark's kernels take buffers and scalars only")
    return bound


def buffers_of(device: Device, task: Task, case: Case, inputs: Tensors) -> dict[str, DeviceMemory]:
    """Allocate device memory for inputs, which are copied, and outputs."""
    buffers = {}
    for spec in (*task.inputs, *task.outputs):
        buffers[spec.name] = device.allocate(prod(task.shape_of(spec, case)) * DTYPE_BYTES[spec.dtype])
        if spec.name in inputs:
            buffers[spec.name].write(np.ravel(inputs[spec.name], order=order(spec)))
    return buffers


def order(spec: TensorSpec) -> Any:
    """Name the layout in numpy's words."""
    return "F" if spec.layout == "column_major" else "C"
