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
class Layout:
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

    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    sizes: tuple[int, ...]
    dims: Mapping[str, int]

    def holds(self, tensors: Sequence[Any]) -> bool:
        """Tell whether a call with these tensors is this one."""
        return all(layout.holds(tensor) for layout, tensor in zip(self.inputs, tensors, strict=True))


class Kernel:
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

    def fake(self, *arguments: Any) -> Any:
        """Make outputs for tracing."""
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        case = self.case_of(tensors)
        if case is None:
            raise ValueError(f"{self.name} was not verified for {told(tensors)}")
        outputs = [layout.empty(tensors[0].device) for layout in case.outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def original(self, *arguments: Any) -> Any:
        """Compute the outputs by the model's own operators, laid out as the kernel does."""
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        case = self.case_of(tensors)
        if case is None:
            raise ValueError(f"{self.name} was not verified for {told(tensors)}")
        given = [
            t.permute(_inverse(order)) if order else t for t, order in zip(tensors, self.input_orders, strict=True)
        ]
        outputs = []
        for value, layout, order in zip(self.pattern.run(*given), case.outputs, self.output_orders, strict=True):
            outputs.append(layout.empty(value.device).copy_(value.permute(order) if order else value))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]


def _layout(row: Mapping[str, Any]) -> Layout:
    return Layout(dtype_of(row["dtype"]), tuple(row["shape"]), tuple(row["stride"]))


def _case(row: Mapping[str, Any]) -> VerifiedCase:
    inputs, outputs = (tuple(_layout(one) for one in row[name]) for name in ("inputs", "outputs"))
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


def kernels(kind: str) -> list[Kernel]:
    """Load the kernels once for a process.

    `device` is the GPU; `lab` executes them on tensors of the processor; `original` computes the regions by the model's
    own operators on any device, which shows where kernels would stand.
    """
    known = facts()
    space = known["space"] if kind == DEVICE else f"{known['space']}_{kind}"
    rows = [Kernel(row, space) for row in known["kernels"]]
    if kind not in (DEVICE, LAB, ORIGINAL):
        raise ValueError(f"kernels may be 'device', 'lab' or 'original', not {kind!r}")
    if space in _LIBRARIES:
        return rows
    _define(rows, space)
    if kind == LAB:
        _implement_in_lab(rows, space, known["lab_cache"])
    elif kind == ORIGINAL:
        for kernel in _by_operator(rows):
            _LIBRARIES[space].impl(kernel.record["operator"], kernel.original, "CompositeExplicitAutograd")
    elif torch.cuda.is_available():
        _compile(known)
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


def _define(rows: Sequence[Kernel], space: str) -> None:
    _LIBRARIES[space] = library = torch.library.Library(space, "FRAGMENT")
    for kernel in _by_operator(rows):
        library.define(kernel.record["schema"])
        operator = f"{space}::{kernel.record['operator']}"
        torch.library.register_fake(operator, kernel.fake, lib=library)
        if not kernel.has_backward:
            torch.library.register_autograd(operator, _refuse, lib=library)
    for kernel in _by_operator(rows):
        if kernel.has_backward:
            library.define(kernel.record["backward_schema"])
            importlib.import_module(f"{__package__}.gradient_{kernel.name}")


def _by_operator(rows: Sequence[Kernel]) -> list[Kernel]:
    """List one kernel of each operator: a kernel may serve regions of several sizes."""
    return list({kernel.record["operator"]: kernel for kernel in rows}.values())


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


def _implement_in_lab(rows: Sequence[Kernel], space: str, cache: str) -> None:
    try:
        lab_kernel = importlib.import_module("exports.models.lab_kernel")
    except ImportError:
        raise RuntimeError("kernels='lab' executes kernels by GPU Kernel Scientist: have it on the path") from None
    library, place = _LIBRARIES[space], Path(cache) if cache else None
    for kernel in _by_operator(rows):
        folder, record = FOLDER / "lab" / kernel.name, kernel.record
        executed = lab_kernel.LabKernel(folder / "kernel.hip", folder / "task", record["tunables"], place)
        library.impl(record["operator"], executed.on_tensors(kernel.case_of), "CPU")
