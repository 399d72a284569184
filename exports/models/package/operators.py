"""The package's custom operators, with fake versions: compiled for the GPU, executed by the lab, or the model's own."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from exports.models.package.patterns import Pattern, dtype_of

FOLDER = Path(__file__).resolve().parent
DEVICE, LAB, ORIGINAL = "device", "lab", "original"
_LIBRARIES = dict[str, Any]()  # of operators, which live as long as the process


@dataclass(frozen=True)
class TensorLayout:
    """A tensor as a kernel was verified with it."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    def holds(self, tensor: Any) -> bool:
        """Tell whether a tensor is like this one; along an axis of one element any stride will do."""
        if tensor.dtype != self.dtype or len(tensor.shape) != len(self.shape):
            return False
        rows = zip(tensor.shape, tensor.stride(), self.shape, self.stride, strict=True)
        return all(n == size and (n == 1 or step == stride) for n, step, size, stride in rows)

    def empty(self, device: torch.device) -> torch.Tensor:
        """Make a tensor like this one."""
        return torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device=device)


@dataclass(frozen=True)
class VerifiedCase:
    """Inputs and outputs of one verified call, and the sizes that no shape of an input shows."""

    inputs: tuple[TensorLayout, ...]
    outputs: tuple[TensorLayout, ...]
    sizes: tuple[int, ...]
    dims: Mapping[str, int]

    def holds(self, tensors: Sequence[Any]) -> bool:
        """Tell whether a call with these tensors is this one."""
        return all(layout.holds(tensor) for layout, tensor in zip(self.inputs, tensors, strict=True))


class PlacedKernel:
    """One region's kernel."""

    def __init__(self, record: Mapping[str, Any], space: str) -> None:
        """Take an entry of package.json."""
        self.record, self.space = record, space
        self.name: str = record["name"]
        self.has_backward = bool(record["has_backward"]) and space == facts()["space"]
        self.input_orders: list[list[int]] = record["input_orders"]
        self.output_orders: list[list[int]] = record["output_orders"]
        self.cases = tuple(_case(row) for row in record["cases"])

    @cached_property
    def pattern(self) -> Pattern:
        """The subgraph that it replaces."""
        return Pattern(self.record["pattern"])

    @property
    def call(self) -> Any:
        """The operator as a graph holds it."""
        return getattr(getattr(torch.ops, self.space), self.record["operator"]).default

    def case_of(self, tensors: Sequence[Any]) -> VerifiedCase | None:
        """Find the verified case that a call with these tensors is; None where it was not verified."""
        return next((case for case in self.cases if case.holds(tensors)), None)

    def original(self, tensors: Sequence[Any], case: VerifiedCase) -> Any:
        """Compute the outputs by the model's own operators, laid out as the kernel does."""
        rows = zip(tensors, self.input_orders, strict=True)
        given = [tensor.permute(_inverse(order)) if order else tensor for tensor, order in rows]
        outputs = []
        for value, layout, order in zip(self.pattern.run(*given), case.outputs, self.output_orders, strict=True):
            outputs.append(layout.empty(value.device).copy_(value.permute(order) if order else value))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


@dataclass(frozen=True)
class CustomOperator:
    """One operator, with the kernels of all regions that it serves: they differ in sizes."""

    kernels: tuple[PlacedKernel, ...]

    @property
    def record(self) -> Mapping[str, Any]:
        """Return the entry of package.json, the same for all but for its sizes."""
        return self.kernels[0].record

    def case_of(self, tensors: Sequence[Any]) -> VerifiedCase:
        """Find the verified case that a call is; ValueError where it was not verified."""
        return self._served(tensors)[1]

    def _served(self, tensors: Sequence[Any]) -> tuple[PlacedKernel, VerifiedCase]:
        for kernel in self.kernels:
            if (case := kernel.case_of(tensors)) is not None:
                return kernel, case
        raise ValueError(f"{self.record['operator']} was not verified for {told(tensors)}")

    def fake(self, *arguments: Any) -> Any:
        """Make outputs for tracing."""
        tensors = _tensors(arguments)
        outputs = [layout.empty(tensors[0].device) for layout in self.case_of(tensors).outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def original(self, *arguments: Any) -> Any:
        """Compute the outputs by the model's own operators."""
        tensors = _tensors(arguments)
        kernel, case = self._served(tensors)
        return kernel.original(tensors, case)


def _tensors(arguments: Sequence[Any]) -> list[Any]:
    return [argument for argument in arguments if isinstance(argument, torch.Tensor)]


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]


def _layout(row: Mapping[str, Any]) -> TensorLayout:
    return TensorLayout(dtype_of(row["dtype"]), tuple(row["shape"]), tuple(row["stride"]))


def _case(row: Mapping[str, Any]) -> VerifiedCase:
    inputs, outputs = (tuple(_layout(row_of) for row_of in row[name]) for name in ("inputs", "outputs"))
    return VerifiedCase(inputs, outputs, tuple(row["sizes"]), row["dims"])


def told(tensors: Sequence[Any]) -> str:
    """Describe tensors: `bfloat16[4, 64] with strides [64, 1]`."""
    texts = []
    for tensor in tensors:
        shape, stride = [int(n) for n in tensor.shape], [int(n) for n in tensor.stride()]
        dense = list(torch.empty(shape, device="meta").stride())
        layout = "" if stride == dense else f" with strides {stride}"
        texts.append(f"{str(tensor.dtype).removeprefix('torch.')}{shape}{layout}")
    return ", ".join(texts)


def facts() -> dict[str, Any]:
    """Read package.json."""
    values: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    return values


def kernels(kind: str) -> list[PlacedKernel]:
    """Load the kernels once for a process.

    `device` is the GPU; `lab` executes them on tensors of the processor; `original` computes the regions by the model's
    own operators on any device, which shows where kernels would stand.
    """
    facts_read = facts()
    space = facts_read["space"] if kind == DEVICE else f"{facts_read['space']}_{kind}"
    rows = [PlacedKernel(row, space) for row in facts_read["kernels"]]
    if kind not in (DEVICE, LAB, ORIGINAL):
        raise ValueError(f"kernels may be 'device', 'lab' or 'original', not {kind!r}")
    if space in _LIBRARIES:
        return rows
    _define(rows, space)
    if kind == LAB:
        _implement_in_lab(rows, space, facts_read["lab_cache"])
    elif kind == ORIGINAL:
        for served in _operators(rows):
            _LIBRARIES[space].impl(served.record["operator"], served.original, "CompositeExplicitAutograd")
    elif torch.cuda.is_available():
        _compile(facts_read)
    return rows


def refusal(known: Mapping[str, Any], device: torch.device) -> str:
    """Say why kernels cannot run on a device; empty where they can."""
    if device.type != "cuda":
        return f"its kernel is for the {known['title']}, and the tensors are on {device.type}"
    properties = torch.cuda.get_device_properties(device)
    arch = getattr(properties, "gcnArchName", "").partition(":")[0]
    arch = arch if torch.version.hip else f"sm_{properties.major}{properties.minor}"
    is_same = known["arch"].rstrip("a") == arch and known["title"].split()[-1].lower() in properties.name.lower()
    return "" if is_same else f"its kernel was verified on the {known['title']}, and this is a {properties.name}"


def _define(rows: Sequence[PlacedKernel], space: str) -> None:
    _LIBRARIES[space] = library = torch.library.Library(space, "FRAGMENT")
    for served in _operators(rows):
        library.define(served.record["schema"])
        name = f"{space}::{served.record['operator']}"
        torch.library.register_fake(name, served.fake, lib=library)
        if served.kernels[0].has_backward:
            library.define(served.record["backward_schema"])
            importlib.import_module(f"{__package__}.gradient_{served.kernels[0].name}")
        else:
            torch.library.register_autograd(name, _refuse, lib=library)


def _operators(rows: Sequence[PlacedKernel]) -> list[CustomOperator]:
    """Group the kernels by operator."""
    names = dict.fromkeys(kernel.record["operator"] for kernel in rows)
    return [CustomOperator(tuple(k for k in rows if k.record["operator"] == name)) for name in names]


def _refuse(context: Any, *gradients: Any) -> Any:
    raise NotImplementedError("this kernel has no backward kernel: call it under torch.no_grad()")


def _compile(known: Mapping[str, Any]) -> None:
    """Compile all kernels; PyTorch keeps them in its folder of extensions."""
    from torch.utils.cpp_extension import load

    load(
        name=known["space"],
        sources=[str(FOLDER / path) for path in known["sources"]],
        extra_cflags=["-std=c++20"],
        extra_cuda_cflags=known["flags"],
        is_python_module=False,
    )


def _implement_in_lab(rows: Sequence[PlacedKernel], space: str, cache: str) -> None:
    try:
        lab_kernel = importlib.import_module("exports.models.lab_kernel")
    except ImportError:
        raise RuntimeError("kernels='lab' executes kernels by GPU Kernel Scientist: have it on the path") from None
    library, cache_folder = _LIBRARIES[space], Path(cache) if cache else None
    for served in _operators(rows):
        folder, record = FOLDER / "lab" / served.kernels[0].name, served.record
        executed = lab_kernel.LabKernel(folder / "kernel.hip", folder / "task", record["tunables"], cache_folder)
        library.impl(record["operator"], executed.on_tensors(served.case_of), "CPU")
