"""The part of the HIP stub's device that has to do with code: modules, launches, events, compilation."""

from __future__ import annotations

import math
import struct
import time
from typing import Any

from sandbox.gpu.compile.images import ImageKernel
from tests.support.hip_device import (
    ILLEGAL_ADDRESS,
    INVALID_CONFIGURATION,
    INVALID_HANDLE,
    INVALID_IMAGE,
    INVALID_VALUE,
    NOT_FOUND,
    UNKNOWN,
    Process,
)
from tests.support.hip_kernels import Image
from tests.support.hip_own_kernels import computed

LDS_BYTES = 65536
LAUNCH_US = 10.0
COMPILATION_FAILED = 6
_FAULTS = {"out_of_bounds": ILLEGAL_ADDRESS, "stack_overflow": ILLEGAL_ADDRESS}


class Coded(Process):
    """A process with modules."""

    def hipModuleLoadData(self, numbers: tuple[int, ...], data: bytes) -> Any:
        image = self.world.workshop.load(data)
        if image is None:
            return INVALID_IMAGE
        handle = self._handle()
        self.modules[handle] = image
        for variable in image.variables.values():
            address = self._handle(variable.nbytes)
            self.memory[address], self.owned[address] = variable, handle
        return 0, struct.pack("<Q", handle)

    def hipModuleUnload(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if self.modules.pop(numbers[0], None) is None:
            return self._wrong("hipModuleUnload of no module", INVALID_HANDLE)
        for address in [a for a, module in self.owned.items() if module == numbers[0]]:
            del self.memory[address], self.owned[address]
        return 0

    def hipModuleGetGlobal(self, numbers: tuple[int, ...], data: bytes) -> Any:
        image = self.modules.get(numbers[0])
        if image is None:
            return self._wrong("hipModuleGetGlobal of no module", INVALID_HANDLE)
        variable = image.variables.get(data.decode())
        if variable is None:
            return NOT_FOUND
        address = next(a for a, m in self.owned.items() if m == numbers[0] and self.memory[a] is variable)
        return 0, struct.pack("<QQ", address, variable.nbytes)

    def hipModuleGetFunction(self, numbers: tuple[int, ...], data: bytes) -> Any:
        image = self.modules.get(numbers[0])
        if image is None:
            return self._wrong("hipModuleGetFunction of no module", INVALID_HANDLE)
        kernel = image.kernels.get(data.decode())
        if kernel is None:
            return NOT_FOUND
        handle = self._handle()
        self.functions[handle] = (numbers[0], kernel)
        sizes = kernel.parameter_bytes
        return 0, struct.pack(f"<{2 + len(sizes)}Q", handle, len(sizes), *sizes)

    def _function(self, handle: int) -> tuple[Image, ImageKernel] | None:
        module, kernel = self.functions.get(handle, (0, None))
        image = self.modules.get(module)
        return (image, kernel) if image is not None and kernel is not None else None

    def hipFuncGetAttribute(self, numbers: tuple[int, ...], data: bytes) -> Any:
        function = self._function(numbers[1])
        if function is None:
            return self._wrong("hipFuncGetAttribute of no function", INVALID_HANDLE)
        kernel = function[1]
        values = {0: kernel.max_threads, 1: kernel.shared_bytes, 3: kernel.local_bytes, 4: kernel.registers}
        if numbers[0] not in values:
            return self._wrong(f"function attribute {numbers[0]}")
        return 0, struct.pack("<i", values[numbers[0]])

    def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(self, numbers: tuple[int, ...], data: bytes) -> Any:
        function = self._function(numbers[0])
        if function is None:
            return self._wrong("the occupancy of no function", INVALID_HANDLE)
        waves = -(-numbers[1] // 64)
        by_lds = LDS_BYTES // max(1, function[1].shared_bytes + numbers[2])
        return 0, struct.pack("<i", min(32 // waves, by_lds))

    def hipModuleLaunchKernel(self, numbers: tuple[int, ...], data: bytes) -> Any:
        function = self._function(numbers[0])
        if function is None:
            return self._wrong("a launch of no function", INVALID_HANDLE)
        image, kernel = function
        grid, block, dynamic = numbers[1:4], numbers[4:7], numbers[7]
        if any(numbers[8:]):
            return self._wrong("a launch on a stream, or with `extra`")
        if not math.prod(grid) or not math.prod(block):
            return INVALID_CONFIGURATION
        if math.prod(block) > kernel.max_threads or kernel.shared_bytes + dynamic > LDS_BYTES:
            return INVALID_VALUE
        self.world.launched.append(kernel.name)
        self.world.last[kernel.name] = (grid, block, dynamic, data)
        self.clock_us += self.world.launch_us.get(kernel.name, LAUNCH_US)
        time.sleep(1e-6 * self.world.host_us.get(kernel.name, 0.0))
        kinds = (
            []
            if kernel.name in self.world.skipped
            else ["timeout"]
            if kernel.name in self.world.hangs
            else computed(kernel.name, grid[1], data, self._span)
            if kernel.name in self.world.computed
            else self.world.workshop.execute(image, kernel, grid, block, dynamic, data, self.memory)
        )
        if "timeout" in kinds:
            self.hangs = True
        self.fault = next((_FAULTS[kind] for kind in kinds if kind in _FAULTS), 0)
        if kernel.name in self.world.unclear:
            self.fault = UNKNOWN
        return 0

    def hipEventCreateWithFlags(self, numbers: tuple[int, ...], data: bytes) -> Any:
        handle = self._handle()
        self.events[handle] = None
        return (0, struct.pack("<Q", handle)) if numbers[0] == 0 else self._wrong("an event that keeps no time")

    def hipEventDestroy(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if numbers[0] not in self.events:
            return self._wrong("hipEventDestroy of no event", INVALID_HANDLE)
        del self.events[numbers[0]]
        return 0

    def hipEventRecord(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if numbers[0] not in self.events or numbers[1]:
            return self._wrong("hipEventRecord of no event, or on a stream", INVALID_HANDLE)
        self.events[numbers[0]] = self.clock_us
        return 0

    def hipEventSynchronize(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if self.events.get(numbers[0]) is None:
            return self._wrong("hipEventSynchronize of an event that was not recorded", INVALID_HANDLE)
        return 0

    def hipEventElapsedTime(self, numbers: tuple[int, ...], data: bytes) -> Any:
        start, stop = (self.events.get(n) for n in numbers)
        if start is None or stop is None:
            return self._wrong("hipEventElapsedTime of an event that was not recorded", INVALID_HANDLE)
        return 0, struct.pack("<f", (stop - start) / 1e3)

    def hiprtcGetLoweredName(self, numbers: tuple[int, ...], data: bytes) -> Any:
        symbol = self.world.workshop.symbols.get(data.decode())
        return (0, symbol.encode()) if symbol else NOT_FOUND

    def hiprtcCompileProgram(self, numbers: tuple[int, ...], data: bytes) -> Any:
        options = data[: numbers[0] - 1].decode().split("\n")
        if "--offload-arch=gfx942" not in options:
            return self._wrong(f"hipRTC without a known architecture: {options}", 5)
        names = [o.removeprefix("name:") for o in options if o.startswith("name:")]
        flags = [o for o in options if o and not o.startswith("name:")]
        image, log = self.world.workshop.compile(data[numbers[0] :].decode(), flags, names)
        log_bytes = log.encode()
        return (COMPILATION_FAILED if image is None else 0), struct.pack("<Q", len(log_bytes)) + log_bytes + (
            image or b""
        )
