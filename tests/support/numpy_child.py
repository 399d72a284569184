"""A child process that is none: its kernel is a function of one float32 input, for tasks like `scale`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sandbox.gpu.child_channel import decode
from sandbox.gpu.child_messages import BatchCall, BatchRequest, BindRequest, CallRequest
from sandbox.gpu.child_process import Called
from sandbox.gpu.layout import Layout
from sandbox.gpu.memory_file import Raw, view

Kernel = Callable[[Any], Any]


class NumpyChild:
    """Answers what a verification asks; counts batches and calls."""

    noise_seed = 0

    def __init__(self, kernel: Kernel, changed: int = 0) -> None:
        """`changed` blocks are said to be written to in every batch."""
        self.kernel, self.changed = kernel, changed
        self.batches, self.calls, self.cases = 0, 0, list[int]()
        self._x: Any = None
        self._layout = Layout((), 0)

    def batch(self, request: BatchRequest, inputs: int, nbytes: int, timeout_s: float) -> tuple[int, Raw]:
        """The kernel's outputs for every input of the batch."""
        self.batches += 1
        call, data, offset, results = decode(request.call.encode(), (BatchCall,)), view(inputs), 0, list[Any]()
        for region in (p for p in call.layout.places if p.role == "input"):
            results.append(self.kernel(data[offset : offset + region.nbytes].view(np.float32)))
            self.cases.append(region.nbytes // 4)
            offset += region.nbytes
        outputs = np.concatenate(results).astype(np.float32).view(np.uint8)
        assert offset == len(data) // 2 and outputs.nbytes == nbytes and len(call.outputs) == len(results)
        return self.changed, outputs

    def bind(self, request: BindRequest, inputs: int) -> None:
        """Keep the inputs of one case."""
        self._layout = request.layout
        self._x = view(inputs)[: self._layout["x"].nbytes].view(np.float32)

    def call(self, request: CallRequest, timeout_s: float) -> Called:
        """The kernel's output for them."""
        self.calls += 1
        y = np.asarray(self.kernel(self._x), np.float32)
        return Called(0, {"y": y.view(np.uint8)}, 0)
