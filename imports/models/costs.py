"""What operators and regions cost: bytes, operations, and the time that a GPU takes for them at rates it reaches.

Predicted times are such a roofline: traffic at the share of the memory's rate that copies reach, products at a share of
the matrix peak, and a launch a kernel. They order regions; they say nothing of a kernel that is bad.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from imports.models.graph_regions import GraphRegion
from imports.models.operator_graph import GraphNode
from imports.models.operator_roles import NAMES, role_of
from imports.models.tensor_sizes import element_bytes, elements_met, tensor_bytes
from records.model_scan import ModelTensor

if TYPE_CHECKING:
    from imports.models.fusion import DataFlow
    from sandbox.target import Target

HBM_SHARE = 0.9  # a copy of 256 MiB reached 4.3 of 4.8 TB/s on an H200; MI300X has its own in [clock]
MATRIX_SHARE = 0.7  # assumed: large products of the vendors' libraries
PASSES = {
    **dict.fromkeys(NAMES["sort"], 4),
    "native_layer_norm_backward": 2,
    "cross_entropy_loss": 2,
}  # over what they read
LAUNCHES = {
    **dict.fromkeys(NAMES["sort"], 3),
    "native_layer_norm_backward": 2,
    "cross_entropy_loss": 2,
    "where": 3,
    "nonzero": 3,
}
INDEXED = NAMES["gather"] - NAMES["window"]
PEAKS = {
    "bf16": "bf16_matrix",
    "f16": "fp16_matrix",
    "i8": "int8_matrix",
    "u8": "int8_matrix",
    "f64": "fp64_matrix",
    **dict.fromkeys(("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"), "fp8_matrix"),
}
VECTOR = "fp32_vector"


@dataclass(frozen=True)
class OperatorWork:
    """What something moves and computes, and in how many kernels."""

    bytes: float
    flops: float
    peak: str  # of the operations that a matrix unit does; VECTOR where there are none
    launches: int = 1


@dataclass(frozen=True)
class ReachedRates:
    """The rates that a GPU reaches."""

    target: Target

    @property
    def bytes_us(self) -> float:
        """Bytes in a microsecond."""
        return self.target.memory["hbm_tb_s"] * self.target.clock.get("hbm_share", HBM_SHARE) * 1e6

    @property
    def launch_us(self) -> float:
        """Time of a kernel that does nothing."""
        return self.target.memory["launch_us"]

    def flops_us(self, peak: str) -> float:
        """Operations in a microsecond."""
        peaks = self.target.peaks_tflops
        return (peaks[peak] * MATRIX_SHARE if peak in peaks and peak != VECTOR else peaks[VECTOR]) * 1e6

    def time_us(self, work: OperatorWork) -> float:
        """Predict a time."""
        busy = max(work.bytes / self.bytes_us, work.flops / self.flops_us(work.peak))
        return work.launches * self.launch_us + busy

    def bound_by(self, work: OperatorWork) -> str:
        """Name what most of that time goes to."""
        parts = {
            "launch": work.launches * self.launch_us,
            "hbm": work.bytes / self.bytes_us,
            "compute": work.flops / self.flops_us(work.peak),
        }
        return max(parts, key=lambda name: parts[name])


def operator_work(flow: DataFlow, node: GraphNode) -> OperatorWork:
    """Count what an operator alone costs, as a kernel of its own."""
    read = sum(_read_bytes(node, t) for name in node.reads() if (t := flow.tensor(name)) is not None)
    written_bytes = sum(tensor_bytes(t) for t in node.results)
    if node.operator in NAMES["update"]:
        return OperatorWork(0, 0, VECTOR, 0)
    passes = PASSES.get(node.operator, 1)
    flops = _flops(flow, node)
    launches = LAUNCHES.get(node.operator, 1) if role_of(node) != "recurrent" else 2 * _steps(flow, node)
    return OperatorWork(passes * read + written_bytes, flops, _peak(flow, node), launches)


def region_work(flow: DataFlow, region: GraphRegion) -> OperatorWork:
    """Count what a region costs as one kernel: every input once, every output once."""
    read = 0.0
    for tensor in region.inputs:
        parts = {
            name: sum(_read_bytes(node, t) for node in region.operators if name in node.reads())
            for name in _names_met(region, flow.root(tensor.name), flow)
            if (t := flow.tensor(name)) is not None
        }
        read += min(float(tensor_bytes(tensor)), float(sum(parts.values()))) if parts else 0.0
    written_bytes = sum(tensor_bytes(t) for t in region.outputs)
    works = [operator_work(flow, node) for node in region.operators]
    peaks = [work.peak for work in works if work.peak != VECTOR]
    has_steps = any(role_of(node) == "recurrent" for node in region.operators)
    return OperatorWork(
        read + written_bytes,
        sum(w.flops for w in works),
        peaks[0] if peaks else VECTOR,
        max(w.launches for w in works) if has_steps else 1,
    )


def _names_met(region: GraphRegion, root: str, flow: DataFlow) -> list[str]:
    """Name the values of a root that the region's operators read."""
    return list(dict.fromkeys(n for node in region.operators for n in node.reads() if flow.root(n) == root))


def _read_bytes(node: GraphNode, tensor: ModelTensor) -> int:
    """Count what an operator reads of a tensor: of a table no more than what comes out."""
    full_bytes = tensor_bytes(tensor)
    if node.operator not in INDEXED or not node.results:
        return full_bytes
    return min(full_bytes, elements_met(node.results[0]) * element_bytes(tensor.dtype))


def _peak(flow: DataFlow, node: GraphNode) -> str:
    if role_of(node) not in ("product", "convolution", "attention", "recurrent"):
        return VECTOR
    types = [t.dtype for name in node.reads() if (t := flow.tensor(name)) is not None]
    return PEAKS.get(types[0] if types else "f32", "fp32_matrix")


def _flops(flow: DataFlow, node: GraphNode) -> float:
    role = role_of(node)
    tensors = [t for name in node.reads() if (t := flow.tensor(name)) is not None]
    if not node.results or any(-1 in t.shape for t in (*tensors, *node.results)):
        return 0.0
    size = prod(node.results[0].shape)
    if role == "product":
        return 2.0 * size * _inner_length(node, tensors)
    if role == "convolution" and len(tensors) > 1:
        weight = tensors[1].shape
        over = prod(tensors[0].shape) if "transpose" in node.operator else size
        return 2.0 * over * prod(weight[1:]) * (2 if node.operator.endswith("backward") else 1)
    if role == "attention" and len(tensors) > 2:
        queries, keys, values = (t.shape for t in tensors[:3])
        causal = 0.5 if any(a is True for a in (*node.args, *node.kwargs.values())) else 1.0
        return 2.0 * prod(queries[:-1]) * keys[-2] * (queries[-1] + values[-1]) * causal
    if role == "recurrent":
        weights = sum(prod(t.shape) for t in tensors if len(t.shape) == 2)
        return 2.0 * prod(tensors[0].shape[:-1]) * weights
    return float(max([size, *(prod(t.shape) for t in tensors)] if role == "row" else [size]))


def _inner_length(node: GraphNode, tensors: Sequence[ModelTensor]) -> int:
    """Find the length of the sums of a product."""
    factors = tensors[1:] if node.operator in ("addmm", "baddbmm", "addmv", "addbmm") else tensors
    if node.operator == "einsum":
        return _einsum_length(str(node.args[0]), factors)
    return factors[0].shape[-1] if factors and factors[0].shape else 1


def _einsum_length(equation: str, factors: Sequence[ModelTensor]) -> int:
    left, _, right = equation.replace(" ", "").partition("->")
    lengths = dict[str, int]()
    for term, tensor in zip(left.split(","), factors, strict=False):
        if "." not in term:
            lengths |= dict(zip(term, tensor.shape, strict=False))
    return prod(length for letter, length in lengths.items() if letter not in right)


def _steps(flow: DataFlow, node: GraphNode) -> int:
    source = flow.first_tensor(node)
    return max(source.shape[0], 1) if source is not None and source.shape else 1


def total_of(works: Iterable[OperatorWork], rates: ReachedRates) -> float:
    """Predict the time of kernels one after the other."""
    return sum(rates.time_us(work) for work in works)
