"""A profiler's trace as a scan: each kernel a region without a graph, and so no task."""

from __future__ import annotations

import re
from math import prod

from imports.models.costs import PEAKS, VECTOR, OperatorWork, ReachedRates
from imports.models.kernel_names import PRODUCT, family_of
from imports.models.tensor_sizes import element_bytes
from imports.models.trace_record import ProfilerTrace, TracedKernel, TracedShapes
from records.model_scan import MEASURED, ModelRegion, ModelScan, ModelTensor

TYPES = {
    **{"c10::Half": "f16", "c10::BFloat16": "bf16", "float": "f32", "double": "f64", "long int": "i64", "long": "i64"},
    **{"int": "i32", "bool": "bool", "signed char": "i8", "unsigned char": "u8", "short": "i16"},
    **{"c10::Float8_e4m3fn": "e4m3fn", "c10::Float8_e4m3fnuz": "e4m3fnuz", "c10::Float8_e5m2": "e5m2"},
}
PRODUCTS = re.compile(r"(?:^|::)(addmm|mm|bmm|baddbmm|linear|matmul|_scaled_mm|addmm_)$")
MOST_LETTERS = 64


def scan_trace(trace: ProfilerTrace, model: str, source: str, rates: ReachedRates | None) -> ModelScan:
    """List the kernels; `rates` are those of the GPU that the trace is from, where it is known."""
    total_us = sum(kernel.time_us for kernel in trace.kernels)
    names = dict[str, int]()
    regions = list[ModelRegion]()
    for kernel in trace.kernels:
        slug = re.sub(r"\W+", "_", kernel.name).strip("_")[:MOST_LETTERS].strip("_") or "kernel"
        names[slug] = names.get(slug, 0) + 1
        regions.append(_region(slug if names[slug] == 1 else f"{slug}_{names[slug]}", kernel, total_us, rates))
    regions.sort(key=lambda r: (-r.model_gain, -r.time_us))
    return ModelScan(model, source, "trace", MEASURED, trace.device or "unknown", total_us, tuple(regions), trace.notes)


def _region(name: str, kernel: TracedKernel, total_us: float, rates: ReachedRates | None) -> ModelRegion:
    family, use = family_of(kernel.name), kernel.uses[0] if kernel.uses else None
    works = _product_works(kernel) if family.kind == PRODUCT else []
    share = kernel.time_us / total_us if total_us else 0.0
    roofline_us = min(sum(rates.time_us(w) * n for w, n in works), kernel.time_us) if rates else 0.0
    gain = total_us / (total_us - kernel.time_us + roofline_us) if roofline_us else 1.0
    return ModelRegion(
        name,
        family.kind,
        (),
        (kernel.name, *([use.operator] if use else [])),
        _tensors(use) if use else (),
        (),
        kernel.count,
        kernel.time_us,
        share,
        sum(work.bytes * count for work, count in works),
        sum(work.flops * count for work, count in works),
        rates.bound_by(works[0][0]) if works and rates else "",
        roofline_us,
        kernel.time_us / roofline_us if roofline_us else 0.0,
        gain,
        False,
        "; ".join([family.outlook, _most(share), *_shape_words(kernel)]),
    )


def _most(share: float) -> str:
    return f"the model gains at most {1 / (1 - share):.2f}x" if share < 1 else "it is all of the model's time"


def _shape_words(kernel: TracedKernel) -> list[str]:
    """Say whether shapes are recorded, and how many."""
    first = next((use for use in kernel.uses if use.shapes), None)
    if first is None:
        return ["no shapes are recorded"]
    if len(kernel.uses) == 1:
        return []
    return [f"several shapes, the first {first.time_us / kernel.time_us:.0%} of its time"]


def _product_works(kernel: TracedKernel) -> list[tuple[OperatorWork, int]]:
    """Count the products of all runs, with their numbers; none where some run's is not known."""
    works = [(work, use.count) for use in kernel.uses if (work := _product_work(use)) is not None]
    return works if sum(count for _, count in works) == kernel.count else []


def _tensors(use: TracedShapes) -> tuple[ModelTensor, ...]:
    """Describe the operator's tensors; strides are those of a contiguous tensor where the trace has none."""
    tensors = []
    for index, (shape, kind) in enumerate(zip(use.shapes, use.types, strict=False)):
        if kind in TYPES:
            strides = use.strides[index] if index < len(use.strides) else ()
            contiguous = tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
            tensors.append(ModelTensor(f"x{index}", TYPES[kind], shape, strides or contiguous))
    return tuple(tensors)


def _product_work(use: TracedShapes) -> OperatorWork | None:
    """Count a product of two recorded matrices; None for other operators."""
    match = PRODUCTS.search(use.operator)
    tensors = [t for t in _tensors(use) if len(t.shape) > 1]
    if match is None or len(tensors) < 2:
        return None
    left, right = tensors[-2:] if match[1] in ("addmm", "baddbmm") else tensors[:2]
    columns = right.shape[-2] if match[1] == "linear" else right.shape[-1]
    rows = prod(left.shape[:-1])
    moved = sum(prod(t.shape) * element_bytes(t.dtype) for t in (left, right)) + rows * columns * element_bytes(
        left.dtype
    )
    return OperatorWork(moved, 2.0 * rows * columns * left.shape[-1], PEAKS.get(left.dtype, VECTOR))
