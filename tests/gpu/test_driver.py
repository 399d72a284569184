"""The driver on a real GPU; `tests/unit/sandbox/device/test_driver.py` runs the same through the HIP stub."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from records.errors import MachineError
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.driver import open_driver
from sandbox.target import load_target
from tests.support.driver_checks import Bench, DriverChecks, compile_kernels

TARGETS = {"nvidia": "h200", "amd": "mi300x"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    for vendor, target in TARGETS.items():
        try:
            device = open_driver(vendor).device()
        except MachineError:
            continue
        compiler = GpuCompiler(load_target(target), tmp_path_factory.mktemp("build"))
        build = compile_kernels(compiler)
        compiler.close()
        return Bench(device, build, vendor, "")
    pytest.skip("no driver of a known vendor finds a GPU")


class TestOnTheGpu(DriverChecks):
    def test_variables_keep_their_state_and_writing_them_resets_it(self, bench: Bench) -> None:
        module, memory = bench.device.load(bench.build.image), bench.device.allocate(8)
        kernel = module.kernel("count")
        seen = []
        for _ in range(3):
            kernel.launch((1, 1, 1), (1, 1, 1), 0, [memory])
            seen.append(memory.read(np.int32, (2,)).tolist())
        for name, first in {"counter": 7, "hidden": 3}.items():
            if name in dict(bench.build.globals):
                module.global_memory(name).write(np.array([first], np.int32))
        kernel.launch((1, 1, 1), (1, 1, 1), 0, [memory])
        seen.append(memory.read(np.int32, (2,)).tolist())
        assert seen[:3] == [[7, 3], [8, 4], [9, 5]]
        assert seen[3] == [7, 3 if "hidden" in dict(bench.build.globals) else 6]
        module.unload()
        memory.free()

    def test_a_new_load_forgets_everything(self, bench: Bench) -> None:
        memory = bench.device.allocate(8)
        for _ in range(2):
            module = bench.device.load(bench.build.image)
            module.kernel("count").launch((1, 1, 1), (1, 1, 1), 0, [memory])
            assert memory.read(np.int32, (2,)).tolist() == [7, 3]
            module.unload()
        memory.free()

    def test_an_event_waits_for_the_kernel(self, bench: Bench) -> None:
        x = bench.device.allocate(64 << 20)
        start, end, kernel = bench.device.event(), bench.device.event(), bench.kernel("scale")
        kernel.launch((65536, 1, 1), (256, 1, 1), 0, [x, x, ctypes.c_float(1), ctypes.c_int(16 << 20)])
        start.record()
        kernel.launch((65536, 1, 1), (256, 1, 1), 0, [x, x, ctypes.c_float(1), ctypes.c_int(16 << 20)])
        end.record()
        end.wait()
        assert end.since_us(start) > 5  # 128 MB take longer on any GPU
        x.free()

    def test_the_heap_of_kernels_can_be_made_small(self, bench: Bench, tmp_path: Path) -> None:
        bench.device.limit_heap(1 << 20)
        assert bench.fault(tmp_path, "outside", 0)["call"] is None
