"""What must hold of the driver on every vendor: the same tests run on a real GPU and through the HIP stub.

A test module gives the fixtures `bench` and `blame`; see `Bench`. Needs pytest and numpy.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.candidate.plan import Candidate, Plan
from sandbox.gpu.compile.gpu_compiler import DeviceBuild, GpuCompiler
from sandbox.gpu.driver.driver import Device, DeviceKernel, open_driver
from sandbox.gpu.driver.library import CallFailed

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "data" / "device" / "driver.hip"
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tests.support.driver_checks import fault; fault(*sys.argv[2:])"
)


@dataclass(frozen=True)
class Bench:
    """One GPU and the compiled kernels of SOURCE."""

    device: Device
    build: DeviceBuild
    vendor: str
    library: str  # "" is the vendor's own

    def kernel(self, name: str) -> DeviceKernel:
        symbol = next(k.symbol for k in self.build.kernels if k.name == name)
        return self.device.load(self.build.image).kernel(symbol)

    def fault(self, folder: Path, name: str, number: int = 0) -> dict[str, Any]:
        """Launch a kernel in a process of its own; what the driver said of it, and how the process ended."""
        (folder / "image").write_bytes(self.build.image)
        argv = [
            sys.executable,
            "-c",
            _CHILD,
            str(ROOT),
            self.vendor,
            self.library,
            str(folder / "image"),
            name,
            str(number),
        ]
        process = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        report: dict[str, Any] = json.loads(process.stdout) if process.stdout.strip() else {}
        return {**report, "status": process.returncode, "stderr": process.stderr}


def fault(vendor: str, library: str, image: str, name: str, number: str) -> None:
    """In the child: launch, wait, and tell what came of it on standard output."""
    device = open_driver(vendor, library or None).device()
    kernel = device.load(Path(image).read_bytes()).kernel(name)
    memory = device.allocate(4096)
    memory.fill(0)
    report: dict[str, Any] = {"call": None}
    try:
        kernel.launch((1, 1, 1), (1, 1, 1), 0, [memory, ctypes.c_int64(int(number))])
        device.synchronize()
    except CallFailed as error:
        report = {"call": error.call, "fault": error.fault, "lost": error.lost, "text": str(error)}
    sys.stdout.write(json.dumps(report))


def compile_kernels(compiler: GpuCompiler) -> DeviceBuild:
    """SOURCE as an image."""
    text = SOURCE.read_text(encoding="utf-8")
    build = compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {})
    assert build.findings == (), build.diagnostics
    return build


class DriverChecks:
    """The tests; a subclass gives the fixture `bench`."""

    def test_properties_say_what_it_is(self, bench: Bench) -> None:
        properties = bench.device.properties()
        assert properties.arch.startswith("gfx" if bench.vendor == "amd" else "sm_")
        assert properties.attributes["units"] > 1 and properties.attributes["wave"] in (32, 64)
        assert properties.memory_bytes >= bench.device.free_bytes() > 1 << 20
        assert properties.fingerprint == f"{properties.name} / driver {properties.driver} / {properties.arch}"
        domain, _, bus = properties.pci.partition(":")
        assert len(domain) in (4, 8) and len(bus) == 7

    def test_memory_keeps_what_is_written_where_it_is_written(self, bench: Bench) -> None:
        memory = bench.device.allocate(1 << 12)
        memory.fill(0x01020304)
        memory.write(np.arange(8, dtype=np.float32), offset=64)
        memory.fill(0xFFFFFFFF, offset=128, nbytes=11)
        words = memory.read(np.uint32, (1 << 10,))
        expected = np.full(1 << 10, 0x01020304, np.uint32)
        expected[16:24] = np.arange(8, dtype=np.float32).view(np.uint32)
        expected[32:34] = 0xFFFFFFFF
        assert np.array_equal(words, expected)
        assert memory.read(np.float32, (2, 3), offset=64).tolist() == [[0, 1, 2], [3, 4, 5]]
        memory.free()

    def test_memory_is_copied_on_the_device(self, bench: Bench) -> None:
        source, destination = bench.device.allocate(64), bench.device.allocate(64)
        source.write(np.arange(16, dtype=np.int32))
        destination.fill(0)
        destination.copy_from(source, 8, offset=4, other_offset=12)
        assert destination.read(np.int32, (4,)).tolist() == [0, 3, 4, 0]
        source.free()
        destination.free()

    def test_nothing_outside_of_an_allocation_is_touched(self, bench: Bench) -> None:
        memory, other = bench.device.allocate(64), bench.device.allocate(64)
        for use in (
            lambda: memory.write(np.zeros(17, np.float32)),
            lambda: memory.write(np.zeros(1), offset=60),
            lambda: memory.read(np.float32, (16,), offset=4),
            lambda: memory.fill(0, offset=-4),
            lambda: memory.fill(0, 0, 68),
            lambda: memory.copy_from(other, 64, offset=4),
            lambda: memory.copy_from(other, 64, other_offset=1),
        ):
            with pytest.raises(ValueError):
                use()
        memory.free()
        other.free()

    def test_allocating_takes_memory_and_freeing_gives_it_back(self, bench: Bench) -> None:
        before = bench.device.free_bytes()
        memory = bench.device.allocate(256 << 20)
        assert bench.device.free_bytes() <= before - (200 << 20)
        memory.free()
        assert bench.device.free_bytes() >= before - (16 << 20)

    def test_too_much_memory_is_refused_and_is_nobodys_fault(self, bench: Bench) -> None:
        with pytest.raises(CallFailed) as caught:
            bench.device.allocate(1 << 50)
        assert caught.value.out_of_memory and caught.value.fault is None and not caught.value.lost

    def test_a_mangled_kernel_runs_on_its_arguments(self, bench: Bench) -> None:
        x, y = bench.device.allocate(4000), bench.device.allocate(4000)
        values = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
        x.write(values)
        y.fill(0)
        bench.kernel("scale").launch((4, 1, 1), (256, 1, 1), 0, [x, y, ctypes.c_float(2.5), ctypes.c_int(999)])
        result = y.read(np.float32, (1000,))
        assert np.array_equal(result[:999], np.float32(2.5) * values[:999]) and result[999] == 0
        numbers = (ctypes.c_float(2), ctypes.c_int(1000))
        bench.kernel("scale").prepared((4, 1, 1), (256, 1, 1), 0, [x, y, *numbers], together=True)()
        assert np.array_equal(y.read(np.float32, (1000,)), 2 * values)
        x.free()
        y.free()

    def test_a_launch_takes_addresses_inside_memory_long_numbers_and_dynamic_memory(self, bench: Bench) -> None:
        memory, big = bench.device.allocate(1024), (1 << 40) + 5
        memory.write(np.arange(128, dtype=np.int64))
        bench.kernel("add_long").launch(
            (1, 1, 1), (64, 1, 1), 64 * 8, [ctypes.c_uint64(memory.address + 64 * 8), ctypes.c_int64(big)]
        )
        assert memory.read(np.int64, (128,)).tolist() == [*range(64), *(i + big for i in range(64, 128))]
        memory.free()

    def test_facts_and_parameters_are_those_of_the_image(self, bench: Bench) -> None:
        for built in bench.build.kernels:
            kernel = bench.kernel(built.name)
            facts = kernel.facts(64)
            assert facts.registers == built.registers and facts.local_bytes == built.local_bytes
            assert facts.threads >= 64 and facts.blocks_per_unit >= 1
            assert kernel.parameters() in (None, built.parameter_bytes)

    def test_a_missing_kernel_is_told(self, bench: Bench) -> None:
        with pytest.raises(CallFailed) as caught:
            bench.device.load(bench.build.image).kernel("no_such_kernel")
        assert caught.value.fault is None and not caught.value.lost

    def test_a_damaged_image_is_told(self, bench: Bench) -> None:
        with pytest.raises(CallFailed) as caught:
            bench.device.load(b"\x7fELF" + b"\0" * 60)
        assert caught.value.fault is None and not caught.value.lost

    def test_variables_are_found_by_name_with_their_first_values(self, bench: Bench) -> None:
        module, first_values = bench.device.load(bench.build.image), dict(bench.build.globals)
        assert first_values["counter"] == 4
        for name, nbytes in first_values.items():
            memory = module.global_memory(name)
            assert memory.nbytes == nbytes
            assert memory.read(np.int32, (1,)).tolist() == [{"counter": 7, "hidden": 3}[name]]
        memory = module.global_memory("counter")
        memory.write(np.array([41], np.int32))
        assert memory.read(np.int32, (1,)).tolist() == [41]
        module.unload()

    def test_events_measure_in_order(self, bench: Bench) -> None:
        memory = bench.device.allocate(4000)
        kernel, marks = bench.kernel("scale"), [bench.device.event() for _ in range(3)]
        for mark in marks:
            mark.record()
            for _ in range(2):
                kernel.launch((4, 1, 1), (256, 1, 1), 0, [memory, memory, ctypes.c_float(1), ctypes.c_int(1000)])
        marks[2].wait()
        first, second, total = (marks[b].since_us(marks[a]) for a, b in ((0, 1), (1, 2), (0, 2)))
        assert first > 0 and second > 0
        assert total == pytest.approx(first + second, rel=0.1)
        for mark in marks:
            mark.destroy()
        memory.free()

    def test_a_launch_beyond_a_limit_is_the_kernels_fault_and_ends_nothing(self, bench: Bench) -> None:
        memory, kernel = bench.device.allocate(4096), bench.kernel("scale")
        arguments = [memory, memory, ctypes.c_float(1), ctypes.c_int(1)]
        for grid, block, dynamic in (
            ((1, 1, 1), (2048, 1, 1), 0),
            ((1, 1, 1), (64, 1, 1), 1 << 20),
            ((0, 1, 1), (64, 1, 1), 0),
        ):
            with pytest.raises(CallFailed) as caught:
                kernel.launch(grid, block, dynamic, arguments)
            assert caught.value.fault == "over_limit" and not caught.value.lost
        kernel.launch((1, 1, 1), (64, 1, 1), 0, arguments)
        bench.device.synchronize()
        bench.device.reset_persisting()
        memory.free()

    def test_an_access_far_outside_is_the_kernels_fault(self, bench: Bench, tmp_path: Path) -> None:
        report = bench.fault(tmp_path, "outside", 1 << 45)
        assert (report["fault"], report["lost"]) == ("out_of_bounds", False), report
        assert bench.fault(tmp_path, "outside", 8)["call"] is None
