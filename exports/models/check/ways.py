"""The ways to run a model on a GPU: PyTorch's modes and the applied model, called as they are and as CUDA graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch

Call = Callable[[], Any]
PYTORCH = {"eager": "", "torch.compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}
COMPILERS = {"": "inductor", "default": "inductor"}  # of the applied model beside one of these modes; else the mode
GRAPH = " in a CUDA graph"
WINDOW_US = 3000.0
MOST_CALLS = 200
_FAULTS = (RuntimeError, ValueError, TypeError, AttributeError, AssertionError, LookupError, ImportError, OSError)


def applied_ways(mode: str) -> dict[str, str]:
    """Map the ways to run the applied model to compilers: none, and the one of PyTorch's fastest mode."""
    return {"applied": "eager", "applied and compiled": COMPILERS.get(mode, mode)}


def without_graph(way: str) -> str:
    """Name the way that is captured in this one."""
    return way.removesuffix(GRAPH)


class Ways:
    """Calls by name, each warm; those that do not run are kept with what they said."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        """Every way is called with these inputs, in memory that stays where it is."""
        self._inputs = tuple(inputs)
        self.calls = dict[str, Call]()
        self.failed = dict[str, str]()

    def add(self, name: str, make: Callable[[], Callable[..., Any]]) -> None:
        """Add a way and its CUDA graph."""
        try:
            function = make()

            def call() -> Any:
                return function(*self._inputs)

            warmed(call)
        except _FAULTS as error:
            self.failed[name] = told(error)
            return
        self.calls[name] = call
        try:
            self.calls[f"{name}{GRAPH}"] = captured(call)
        except _FAULTS as error:
            self.failed[f"{name}{GRAPH}"] = told(error)

    def named(self, names: Iterable[str]) -> list[str]:
        """List the ways that run, each with its graph, of these names."""
        chosen_names = set(names)
        return [mode_name for mode_name in self.calls if without_graph(mode_name) in chosen_names]


def told(error: BaseException) -> str:
    """Describe a fault in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def warmed(call: Call) -> None:
    """Call it on a stream of its own, as a capture asks for, until compilation and tuning are done."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def captured(call: Call) -> Call:
    """Capture it in a CUDA graph; what it returns is kept with the graph."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            result = call()
    except BaseException:
        with suppress(RuntimeError, AttributeError):  # a capture that failed may leave its memory pool open
            torch._C._cuda_endAllocateToPool(torch.cuda.current_device(), graph.pool())
        raise
    finally:
        torch.cuda.synchronize()

    def replay() -> Any:
        graph.replay()
        return result

    return replay


def compiled(model: Any, mode: str) -> Callable[..., Any]:
    """Return the model in one of PyTorch's modes; eager where it is empty."""
    if not mode:
        return model  # type: ignore[no-any-return]
    return torch.compile(model, mode=mode, dynamic=False)  # type: ignore[no-any-return]


class DeviceWindows:
    """Windows of device time on the current stream, each of so many calls that its two events do not matter."""

    def __init__(self, calls: Mapping[str, Call]) -> None:
        """Measure how long each call takes about."""
        self._calls = calls
        self._counts = {name: 1 for name in calls}
        for name in calls:
            rough_us = min(self._window(name) for _ in range(3))
            self._counts[name] = max(1, min(MOST_CALLS, math.ceil(WINDOW_US / max(rough_us, 1e-3))))

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Time windows of each way in turn: microseconds a call."""
        return [self._window(name) for name in order]

    def _window(self, name: str) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        call, count = self._calls[name], self._counts[name]
        start.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3 / count
