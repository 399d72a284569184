"""Times of a model's operators on the device that PyTorch has here: each is called again, on drawn tensors.

No code of the model runs: operators of aten, by name, on tensors of the shapes, types and strides that occur. Whole
numbers are 0, which is a place in any table. On a GPU the calls stand in a CUDA graph, over so many copies of inputs
that no cache holds them; what no graph takes is launched as it is, which a host may slow down.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from imports.models.operator_graph import CUSTOM, GraphNode, TracedModel
from imports.models.operator_roles import role_of
from imports.models.region_text import TORCH_TYPES
from imports.models.tensor_sizes import tensor_bytes
from records.codec import dumps
from records.model_scan import ModelTensor

CACHE_BYTES, MOST_COPIES = 512 << 20, 16
CALLS, REPEATS = 16, 5  # in a graph, and of it
OUT_OF_TIME = (RuntimeError, TypeError, ValueError, AttributeError, NotImplementedError, MemoryError)
Call = Callable[[], Any]


@dataclass(frozen=True)
class DeviceTimes:
    """Microseconds by the names of nodes, the device, and what could not be timed."""

    times: Mapping[str, float]
    device: str
    notes: tuple[str, ...]


class OperatorClock(Protocol):
    """A way to time calls; a fake one ships for machines without a GPU: the processor's."""

    device: str

    def time_us(self, calls: list[Call]) -> float:
        """Return the time of one call in the mean, the least of several runs."""
        ...


class HostClock:
    """Calls on the processor."""

    device = "cpu"

    def time_us(self, calls: list[Call]) -> float:
        """Call each once for warming, then all."""
        for call in calls:
            call()
        best = float("inf")
        for _ in range(2):
            started = time.perf_counter()
            for call in calls:
                call()
            best = min(best, time.perf_counter() - started)
        return best / len(calls) * 1e6


class GraphClock:
    """Calls on a GPU."""

    device = "cuda"

    def time_us(self, calls: list[Call]) -> float:
        """Replay a graph of all the calls, or launch them where none can be captured."""
        rounds = [calls[i % len(calls)] for i in range(max(CALLS, len(calls)))]
        for call in rounds:
            call()
        torch.cuda.synchronize()
        replay = self._captured(rounds) or (lambda: [call() for call in rounds])
        best = float("inf")
        for _ in range(REPEATS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            replay()
            end.record()
            torch.cuda.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e3)
        return best / len(rounds)

    def _captured(self, rounds: list[Call]) -> Call | None:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                for call in rounds:
                    call()
        except RuntimeError:
            torch.cuda.synchronize()
            return None
        replay: Call = graph.replay
        replay()
        torch.cuda.synchronize()
        return replay


def device_times(model: TracedModel, clock: OperatorClock | None = None) -> DeviceTimes | None:
    """Time every operator of the model; None where PyTorch has no GPU here and no other clock is given."""
    if clock is None:
        if not torch.cuda.is_available():
            return None
        clock = GraphClock()
    times, by_key, missing = dict[str, float](), dict[str, float | None](), dict[str, int]()
    for graph in model.graphs:
        tensors = {tensor.name: (tensor,) for tensor in graph.inputs} | {n.name: n.results for n in graph.nodes}
        for node in graph.nodes:
            if role_of(node) == "view":
                continue
            key = dumps([node.target, _specified(node.args, tensors), _specified(node.kwargs, tensors)])
            if key not in by_key:
                by_key[key] = _timed(node, tensors, clock)
            if (measured := by_key[key]) is None:
                missing[node.target] = missing.get(node.target, 0) + 1
            else:
                times[node.name] = measured
    name = torch.cuda.get_device_name() if clock.device == "cuda" else clock.device
    notes = tuple(f"{target} could not be timed by itself ({count} times)" for target, count in missing.items())
    return DeviceTimes(times, name, notes)


def _timed(node: GraphNode, tensors: Mapping[str, tuple[ModelTensor, ...]], clock: OperatorClock) -> float | None:
    """Time one operator; None where it cannot be called by itself."""
    if CUSTOM in node.traits or any(-1 in t.shape for n in node.reads() for t in tensors.get(n, ())):
        return None
    moved = sum(tensor_bytes(t) for n in node.reads() for t in tensors.get(n, ()))
    copies = 1 if clock.device == "cpu" else max(1, min(MOST_COPIES, CACHE_BYTES // max(moved, 1)))
    try:
        _, packet, overload = node.target.split(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload)
        calls = [_call(operator, node, tensors, clock.device) for _ in range(copies)]
        with torch.no_grad():
            return clock.time_us(calls)
    except OUT_OF_TIME:
        return None
    finally:
        gc.collect()


def _call(operator: Any, node: GraphNode, tensors: Mapping[str, tuple[ModelTensor, ...]], device: str) -> Call:
    arguments = [_value(a, tensors, device) for a in node.args]
    keywords = {k: _value(v, tensors, device) for k, v in node.kwargs.items()}
    return lambda: operator(*arguments, **keywords)


def _specified(value: Any, tensors: Mapping[str, tuple[ModelTensor, ...]]) -> Any:
    """Put the descriptions of tensors in the places of their names."""
    if isinstance(value, Mapping):
        if set(value) == {"node"}:
            return [[t.dtype, t.shape, t.stride] for t in tensors.get(value["node"], ())]
        return {k: _specified(v, tensors) for k, v in value.items()}
    return [_specified(v, tensors) for v in value] if isinstance(value, (list, tuple)) else value


def _value(value: Any, tensors: Mapping[str, tuple[ModelTensor, ...]], device: str) -> Any:
    """Make an argument."""
    if isinstance(value, (list, tuple)):
        return [_value(v, tensors, device) for v in value]
    if not isinstance(value, Mapping):
        return value
    key, content = next(iter(value.items()))
    match key:
        case "node":
            return drawn(tensors[content][0], device)
        case "dtype":
            return getattr(torch, TORCH_TYPES.get(str(content), str(content)))
        case "device":
            return torch.device(device)
        case "float":
            return float(content)
        case "memory_format" | "layout":
            return getattr(torch, str(content))
    raise ValueError(f"no argument of the kind {key}")


def drawn(tensor: ModelTensor, device: str) -> Any:
    """Draw a tensor with these strides."""
    kind = getattr(torch, TORCH_TYPES.get(tensor.dtype, tensor.dtype))
    reach = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride, strict=True) if n > 0)
    if kind.is_floating_point or kind.is_complex:
        flat = torch.randn(reach, device=device).to(kind)
    else:
        flat = torch.zeros(reach, dtype=kind, device=device)
    return flat.as_strided(tensor.shape, tensor.stride)
