"""The incumbent as a call on the memory that a race shares: PyTorch's function, an expression, a shared object."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from app.beating.incumbent_names import Incumbent
from exports.signature import identifier, signature_of
from exports.torch_operator import TYPES
from records.errors import UsageError
from sandbox.candidate.resolve import DTYPE_BYTES
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.driver.driver import Device
from tasks.parameters import parameters_of
from tasks.task import Case, Task, TensorSpec

Call = Callable[[], Any]
FLUSH_BYTES = 256 << 20  # written before each window, and twice as many read: more than any cache holds
C_TYPES: Mapping[str, Any] = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i64": ctypes.c_int64}


def torch_of() -> Any:
    """Import PyTorch, which only a race needs."""
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise UsageError("PyTorch finds no GPU; install a build of it for this GPU into .venv")
    return torch


class RaceMemory:
    """The task's buffers for one case, as PyTorch's tensors and as memory for launches, and the clock over them."""

    def __init__(self, torch: Any, device: Device, task: Task, case: Case, flush_bytes: int = FLUSH_BYTES) -> None:
        """Draw the inputs of the case; UsageError where a call changes what the next one begins with."""
        if task.initials:
            raise UsageError("the task updates an output in place, so that no call could be repeated in a race")
        self.torch, self.device, self._outputs = torch, device, task.outputs
        self.tensors, self.buffers = dict[str, Any](), dict[str, DeviceMemory]()
        inputs = task.draw(case)
        for spec in (*task.inputs, *task.outputs):
            self._add(spec, task.shape_of(spec, case), inputs.get(spec.name))
        self._written = torch.empty(flush_bytes // 4, dtype=torch.int32, device="cuda")
        self._read = torch.ones(flush_bytes // 2, dtype=torch.int32, device="cuda")
        self._start, self._end = device.event(), device.event()

    def _add(self, spec: TensorSpec, shape: tuple[int, ...], values: Any) -> None:
        if spec.dtype not in TYPES:
            raise UsageError(f"PyTorch has no type for {spec.dtype}")
        nbytes, is_turned = prod(shape) * DTYPE_BYTES[spec.dtype], spec.layout == "column_major"
        storage = self.torch.zeros(max(nbytes, 1), dtype=self.torch.uint8, device="cuda")
        memory = DeviceMemory(self.device.driver, storage.data_ptr(), nbytes)
        if values is not None:
            memory.write(np.ravel(values, order="F" if is_turned else "C"))
        dtype = getattr(self.torch, TYPES[spec.dtype][0].removeprefix("torch."))
        dense = storage[:nbytes].view(dtype).view(shape[::-1] if is_turned else shape)
        self.tensors[spec.name], self.buffers[spec.name] = dense.t() if is_turned else dense, memory

    def window(self, call: Call) -> float:
        """Measure one call's microseconds with cold caches; the flush outlasts what queueing the call costs."""
        self._written.fill_(1)
        self._read.amax()
        self._start.record()
        call()
        self._end.record()
        self._end.wait()
        return self._end.since_us(self._start)

    def apart(self, ours: Call, theirs: Call) -> float:
        """Return the largest difference of the first outputs, in the largest value; UsageError for other shapes."""
        output = self.tensors[self._outputs[0].name]
        memory = self.buffers[self._outputs[0].name]
        memory.fill(0)
        ours()
        mine = output.double().clone()
        memory.fill(0)
        returned = theirs()
        returned = returned[0] if isinstance(returned, tuple | list) and returned else returned
        other = (output if not isinstance(returned, self.torch.Tensor) else returned).double()
        if other.numel() != mine.numel():
            raise UsageError(f"its result has {other.numel()} elements, and the task's {mine.numel()}")
        mine, other = mine.reshape(-1), other.reshape(-1)
        is_finite = mine.isfinite() & other.isfinite()
        if not is_finite.any():
            return 0.0
        largest = other[is_finite].abs().max().clamp(min=1e-30)
        return float((mine - other)[is_finite].abs().max() / largest)


def incumbent_call(incumbent: Incumbent, task: Task, case: Case, memory: RaceMemory) -> Call:
    """Prepare the incumbent for one case; UsageError where the task has no such thing."""
    if incumbent.kind == "shared object":
        return _shared_object(incumbent, task, case, memory)
    function = _expression(incumbent.text, task, case, memory) if incumbent.text else torch_function(task, case, memory)
    if incumbent.kind != "torch.compile":
        return function
    memory.torch._dynamo.reset()  # what was compiled for another shape counts against a limit, then runs uncompiled
    compiled: Call = memory.torch.compile(function, dynamic=False)
    return compiled


def _expression(text: str, task: Task, case: Case, memory: RaceMemory) -> Call:
    """Make a function of an expression over the task's inputs, dims and scalars, and `torch`."""
    names = {"torch": memory.torch, **case.dims, **{s.name: case.scalars.get(s.name, s.value) for s in task.scalars}}
    names |= {spec.name: memory.tensors[spec.name] for spec in task.inputs}
    code = compile(text, "--beat", "eval")
    call: Call = eval(f"lambda: {text}", names)
    assert code is not None
    return call


def torch_function(task: Task, case: Case, memory: RaceMemory) -> Call:
    """Find the PyTorch function or module that the task was made of, and give it the case's tensors."""
    origin = task.provenance
    if origin is None or not origin.file.endswith(".py") or origin.form not in ("pytorch", "kernelbench"):
        raise UsageError(
            f"the task {task.name} was made of no PyTorch file, so state what it is to be compared with: "
            "--beat 'torch.compile:torch.softmax(x, 1)', over the task's inputs"
        )
    spec = importlib.util.spec_from_file_location("original", task.folder / origin.file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "get_inputs"):
        return _module_call(module, task, case, memory)
    function = getattr(module, task.title, None)
    if not inspect.isfunction(function):
        raise UsageError(f"{origin.file} of the task {task.name} has no function {task.title}")
    values: dict[str, Any] = {**case.dims, **{s.name: case.scalars.get(s.name, s.value) for s in task.scalars}}
    values |= {name: memory.tensors[name] for name in memory.tensors}
    task_names = {p.name: p.task_name for p in parameters_of(task)}
    plain, named = list[Any](), dict[str, Any]()
    for name, parameter in inspect.signature(function).parameters.items():
        if (task_name := task_names.get(name, name)) not in values:
            continue  # its default holds
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            plain.append(values[task_name])
        else:
            named[name] = values[task_name]
    return lambda: function(*plain, **named)


def _module_call(module: Any, task: Task, case: Case, memory: RaceMemory) -> Call:
    """Take the file's own module and inputs; UsageError where they are not those of the case."""
    model_class = getattr(module, "Model", None)
    if model_class is None:
        raise UsageError(f"the file of the task {task.name} has get_inputs() and no class Model")
    torch = memory.torch
    model = model_class(*getattr(module, "get_init_inputs", list)()).cuda().eval()
    inputs = [value.cuda() if isinstance(value, torch.Tensor) else value for value in module.get_inputs()]
    theirs = sorted(tuple(value.shape) for value in inputs if isinstance(value, torch.Tensor))
    ours = sorted(tuple(memory.tensors[spec.name].shape) for spec in task.inputs)
    if any(shape not in ours for shape in theirs):
        raise UsageError(f"the file's own inputs are of {theirs}, and the case {case.name} has {ours}")
    for spec in task.inputs:  # the same values, where name and shape say which
        for value in (*inputs, *model.parameters(), *model.buffers()):
            if isinstance(value, torch.Tensor) and value.shape == memory.tensors[spec.name].shape:
                value.data = memory.tensors[spec.name].to(value.dtype)
                break

    def forward() -> Any:
        with torch.no_grad():
            return model(*inputs)

    return forward


def _shared_object(incumbent: Incumbent, task: Task, case: Case, memory: RaceMemory) -> Call:
    """Load NAME_launch and NAME_scratch_bytes, as the header of an export declares them."""
    signature, name = signature_of(task), identifier(task.name)
    library = ctypes.CDLL(incumbent.text)
    launch = getattr(library, f"{name}_launch", None)
    if launch is None:
        raise UsageError(
            f"{incumbent.name} has no function {name}_launch; `kernel-scientist export --as hip` writes its header"
        )
    dims = [ctypes.c_longlong(case.dims[dim]) for dim in signature.dims]
    arguments: list[Any] = [ctypes.c_void_p(memory.buffers[tensor.name].address) for tensor in signature.buffers]
    arguments += dims
    for scalar in signature.scalars:
        value = case.scalars.get(scalar.name, scalar.value)
        arguments.append(C_TYPES.get(scalar.dtype, ctypes.c_int)(value))
    scratch_bytes = getattr(library, f"{name}_scratch_bytes", None)
    nbytes = 0
    if scratch_bytes is not None:
        scratch_bytes.restype = ctypes.c_longlong
        nbytes = int(scratch_bytes(*dims))
    scratch = memory.torch.zeros(max(nbytes, 1), dtype=memory.torch.uint8, device="cuda")
    arguments += [ctypes.c_void_p(scratch.data_ptr()), ctypes.c_void_p(0)]

    def call(_alive: object = scratch) -> None:
        if status := launch(*arguments):
            raise RuntimeError(f"{name}_launch returned {status}")

    return call
