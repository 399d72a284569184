"""The files of a package that puts kernels into a model: modules for PyTorch, sources, and what was verified."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

from exports.gradient import Gradient
from exports.launcher import Launcher
from exports.provenance import Provenance, lines_of, spoken
from exports.torch_module import Backward
from exports.torch_operator import TorchOperator
from records.codec import to_plain
from records.errors import UsageError
from records.model_scan import ModelRegion, RegionPattern
from sandbox.target import Target
from tasks.task import Case, Task, TensorSpec

TEMPLATES = Path(__file__).with_name("package")
MODULES = ("graphs", "patterns", "operators", "replacing", "applying")
ALIGNMENT = 16  # bytes; what a kernel's widest access needs, as every buffer of a judge has
_INIT = '''\
"""{title}

{said}

    import {package}
    faster = {package}.apply(model)             # shares the weights of `model`, which stays as it is
    compiled = torch.compile(model, backend={package}.backend())
    print({package}.report(faster))
"""

from .applying import Backend, Report, apply, backend, report

__all__ = ["Backend", "Report", "apply", "backend", "report"]
'''
_OPERATOR = """\
#include <torch/library.h>
#include <cstdint>
{function}
namespace {{
// The kernel was verified with memory that begins at a multiple of {alignment} bytes; a view may begin elsewhere.
at::Tensor aligned(const at::Tensor& x) {{
    return reinterpret_cast<std::uintptr_t>(x.data_ptr()) % {alignment} ? x.clone(at::MemoryFormat::Preserve) : x;
}}
{declaration} {{ return {symbol}({arguments}); }}
}}  // namespace
TORCH_LIBRARY_IMPL({space}, CUDA, m) {{ m.impl("{name}", &{symbol}_aligned); }}
"""
_GRADIENT = '''\
"""Gradients of {region} by its backward kernel."""

import torch

{joined}

@torch.library.register_fake("{space}::{name}")
def _fake({parameters}):
    """The gradients' shapes, for tracing."""
{lines}
'''


@dataclass(frozen=True)
class RegionKernel:
    """A verified kernel for a region of a scan."""

    region: ModelRegion
    pattern: RegionPattern
    launcher: Launcher
    provenance: Provenance
    source: str
    tunables: Mapping[str, int]
    task_folder: Path
    verified: tuple[str, ...]  # names of the cases that the verdict speaks of; empty: all
    backward: Backward | None = None

    @property
    def task(self) -> Task:
        """The task that it was verified on."""
        return self.launcher.task


def package_files(
    model: str, package: str, kernels: Sequence[RegionKernel], target: Target, lab_cache: Path | None = None
) -> dict[str, bytes]:
    """Write the files by path; UsageError for kernels that do not belong to their regions."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", package):
        raise UsageError(f"a package is imported by its name, and {package!r} is none: name another place with --out")
    sources = dict[str, object]()
    for kernel in kernels:
        text = kernel.source, sorted(kernel.tunables.items())
        if sources.setdefault(kernel.launcher.name, text) != text:
            raise UsageError(f"two kernels are of tasks with the name {kernel.launcher.name}: give one another name")
    if double := _repeated([kernel.region.name for kernel in kernels]):
        raise UsageError(f"two kernels are for the region {double}: name one")
    digest = sha256("\0".join([package, *(k.source for k in kernels), *map(str, _tunables(kernels))]).encode())
    space = f"{package}_{digest.hexdigest()[:8]}"
    files, rows = dict[str, bytes](), list[dict[str, Any]]()
    for kernel in kernels:
        operator = TorchOperator(kernel.launcher, target)
        rows.append(_record(kernel, operator))
        files |= _sources(operator, space)
        if kernel.backward is not None:
            rows[-1]["backward_schema"] = kernel.backward.operator.schema()
            files |= _sources(kernel.backward.operator, space) | _gradient(kernel, operator, space)
        files |= _lab_files(kernel)
    facts = {
        "version": 1,
        "model": model,
        "space": space,
        "title": target.title,
        "arch": target.arch,
        "flags": TorchOperator(kernels[0].launcher, target).flags(),
        "sources": sorted(path for path in files if path.startswith("kernels/")),
        "lab_cache": str(lab_cache) if lab_cache else "",
        "kernels": rows,
    }
    origins = "\n".join(f"{k.region.name}: {' '.join(lines_of(k.provenance))}" for k in kernels)
    init = _INIT.format(title=f"Kernels for {spoken(model)}, put into the model.", said=origins, package=package)
    files |= {f"{name}.py": _module(name) for name in MODULES}
    return {"__init__.py": init.encode(), "package.json": json.dumps(facts, indent=1).encode() + b"\n", **files}


def _repeated(names: Sequence[str]) -> str:
    return next((name for name in names if names.count(name) > 1), "")


def _tunables(kernels: Sequence[RegionKernel]) -> list[object]:
    return [sorted(kernel.tunables.items()) for kernel in kernels]


def _module(name: str) -> bytes:
    text = (TEMPLATES / f"{name}.py").read_text(encoding="utf-8")
    return text.replace("from exports.models.package.", "from .").encode()


def _record(kernel: RegionKernel, operator: TorchOperator) -> dict[str, Any]:
    """Write the entry of one kernel in package.json."""
    signature, task, region = operator.signature, kernel.task, kernel.region
    if signature.scalars:
        raise UsageError(f"{task.name} has scalars that differ from call to call, and a region has none")
    if any(tensor.initial for tensor in task.outputs):
        raise UsageError(f"{task.name} updates an input in place, which a region of a graph does not")
    specs = (len(task.inputs), len(task.outputs))
    if specs != (len(kernel.pattern.inputs), len(kernel.pattern.outputs)):
        raise UsageError(
            f"{task.name} takes {specs[0]} tensors and returns {specs[1]}, and the region {region.name} "
            f"{len(kernel.pattern.inputs)} and {len(kernel.pattern.outputs)}: name the task that was made of it"
        )
    cases = [case for case in (*task.benchmarks, *task.tests) if _is_verified(kernel, case)]
    rows = [_case(task, case, operator.explicit_dims("returns")) for case in cases]
    return {
        "name": region.name,
        "operator": operator.name,
        "schema": operator.schema(),
        "has_backward": kernel.backward is not None,
        "pattern": to_plain(kernel.pattern),
        "input_orders": [_order(tensor.shape, tensor.stride) for tensor in kernel.pattern.inputs],
        "output_orders": [_order(tensor.shape, tensor.stride) for tensor in region.outputs],
        "cases": [row for number, row in enumerate(rows) if row not in rows[:number]],
        "tunables": dict(kernel.tunables),
        "count": region.count,
        "share": region.share,
        "time_us": kernel.provenance.time_us,
        "time_kind": kernel.provenance.time_kind,
        "digest": kernel.provenance.digest,
        "run": kernel.provenance.run,
    }


def _is_verified(kernel: RegionKernel, case: Case) -> bool:
    return not case.absent and (not kernel.verified or case.name in kernel.verified)


def holds_region(kernel: RegionKernel) -> bool:
    """Tell whether the kernel was verified for the very tensors with which the region occurs in the model."""
    region_rows = [_told(t.dtype, *_permuted(t.shape, t.stride)) for t in kernel.pattern.inputs]
    cases = [case for case in (*kernel.task.benchmarks, *kernel.task.tests) if _is_verified(kernel, case)]
    rows = ([_row(kernel.task, tensor, case) for tensor in kernel.task.inputs] for case in cases)
    return any(
        [_told(row["dtype"], row["shape"], row["stride"]) for row in case_rows] == region_rows for case_rows in rows
    )


def _order(shape: Sequence[int], stride: Sequence[int]) -> list[int]:
    """Order the axes as memory has them; empty where that is their own order.

    A task takes a tensor that is dense but permuted in the order of its memory.
    """
    moved = iter(
        sorted((axis for axis in range(len(shape)) if shape[axis] != 1), key=lambda axis: (-stride[axis], axis))
    )
    order = [axis if shape[axis] == 1 else next(moved) for axis in range(len(shape))]
    return [] if order == sorted(order) else order


def _permuted(shape: Sequence[int], stride: Sequence[int]) -> tuple[list[int], list[int]]:
    order = _order(shape, stride) or range(len(shape))
    return [shape[axis] for axis in order], [stride[axis] for axis in order]


def _told(dtype: str, shape: Sequence[int], stride: Sequence[int]) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Return what shows two tensors apart; along an axis of one element any stride will do."""
    return dtype, tuple(shape), tuple(0 if n == 1 else step for n, step in zip(shape, stride, strict=True))


def _case(task: Task, case: Case, sizes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "inputs": [_row(task, tensor, case) for tensor in task.inputs],
        "outputs": [_row(task, tensor, case) for tensor in task.outputs],
        "sizes": [case.dims[name] for name in sizes],
        "dims": dict(case.dims),
    }


def _row(task: Task, tensor: TensorSpec, case: Case) -> dict[str, Any]:
    shape = task.shape_of(tensor, case)
    strides = task.strides_of(tensor, case) or _dense(shape, tensor.layout == "column_major")
    return {"dtype": tensor.dtype, "shape": list(shape), "stride": list(strides)}


def _dense(shape: tuple[int, ...], is_turned: bool) -> tuple[int, ...]:
    """Return the strides of dense memory in elements."""
    if is_turned:
        return _dense(shape[::-1], False)[::-1]
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _sources(operator: TorchOperator, space: str) -> dict[str, bytes]:
    """Write the kernel and its registration."""
    symbol, tensors = operator.symbol("returns"), {t.name for t in operator.signature.all_inputs}
    arguments = [f"aligned({name})" if name in tensors else name for name in operator.names()]
    text = _OPERATOR.format(
        function=operator.function("returns"),
        declaration=operator.declaration("returns").replace(f" {symbol}(", f" {symbol}_aligned("),
        symbol=symbol,
        arguments=", ".join(arguments),
        alignment=ALIGNMENT,
        space=space,
        name=operator.name,
    )
    suffix = "cu" if operator.is_cuda else "hip"
    return {
        f"kernels/{operator.name}_kernel.{suffix}": operator.kernel().encode(),
        f"kernels/{operator.name}.cpp": text.encode(),
    }


def _gradient(kernel: RegionKernel, operator: TorchOperator, space: str) -> dict[str, bytes]:
    assert kernel.backward is not None
    other = kernel.backward.operator
    lines = "\n".join(f"    {line}" for line in other.output_lines(other.signature.first.name))
    text = _GRADIENT.format(
        region=kernel.region.name,
        joined=Gradient(operator, other).text(space, space),
        space=space,
        name=other.name,
        parameters=", ".join(other.names()),
        lines=lines,
    )
    return {f"gradient_{kernel.region.name}.py": text.encode()}


def _lab_files(kernel: RegionKernel) -> dict[str, bytes]:
    """Write the kernel file and its task, by which the lab executes it on the processor."""
    folder = f"lab/{kernel.region.name}"
    paths = [p for p in sorted(kernel.task_folder.iterdir()) if p.is_file() and not p.name.startswith(("seed", "."))]
    files = {f"{folder}/task/{path.name}": path.read_bytes() for path in paths}
    return {f"{folder}/kernel.hip": kernel.source.encode(), **files}
