"""The driver on HIP's interface, through the stub; `tests/gpu/test_driver.py` runs the same on a GPU."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.errors import MachineError
from records.evaluation import FINDING_KINDS
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.driver import open_driver
from sandbox.gpu.driver.hip import HIP
from sandbox.gpu.driver.library import CallFailed
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.driver_checks import Bench, DriverChecks, compile_kernels
from tests.support.hip_stub import Stub, hip_stub


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with hip_stub(toolchain(), COMPILED) as libraries:
        yield libraries
    assert libraries.world.violations == []


@pytest.fixture(scope="module")
def bench(stub: Stub, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    compiler = GpuCompiler(load_target("mi300x"), tmp_path_factory.mktemp("build"), runtime_library=stub.library)
    build = compile_kernels(compiler)
    compiler.close()
    return Bench(open_driver("amd", stub.library).device(), build, "amd", stub.library)


class TestThroughTheStub(DriverChecks):
    def test_the_runtime_may_end_the_process_at_a_fault(self, bench: Bench, stub: Stub, tmp_path: Path) -> None:
        stub.world.aborts = True
        try:
            fault = bench.fault(tmp_path, "outside", 1 << 30)
        finally:
            stub.world.aborts = False
        assert fault["status"] == -signal.SIGABRT
        blamed = HIP.blame(fault["stderr"])
        assert blamed is not None and blamed[0] == "out_of_bounds"


@pytest.mark.parametrize("status", [*HIP.faults])
def test_a_fault_that_surfaces_at_any_call_names_its_kind(bench: Bench, stub: Stub, status: int) -> None:
    stub.world.failures["hipDeviceSynchronize"] = [status]
    with pytest.raises(CallFailed) as caught:
        bench.device.synchronize()
    kind, sentence = HIP.faults[status]
    assert (caught.value.fault, caught.value.lost, caught.value.status) == (kind, False, status)
    assert caught.value.call == "hipDeviceSynchronize"
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("status", sorted(HIP.lost))
def test_a_lost_device_is_nobodys_fault(bench: Bench, stub: Stub, status: int) -> None:
    stub.world.failures["hipMalloc"] = [status]
    with pytest.raises(CallFailed) as caught:
        bench.device.allocate(4)
    assert (caught.value.fault, caught.value.lost) == (None, True)
    assert f"hipMalloc failed on the GPU (hipError{status}" in str(caught.value)


def test_a_status_that_blames_a_launch_blames_nothing_elsewhere(bench: Bench, stub: Stub) -> None:
    stub.world.failures["hipMemcpyDtoDAsync"] = [1]
    memory = bench.device.allocate(8)
    with pytest.raises(CallFailed) as caught:
        memory.copy_from(memory, 4, offset=4)
    assert (caught.value.fault, caught.value.lost) == (None, False)


def test_what_a_process_does_not_give_back_is_seen(stub: Stub, bench: Bench, tmp_path: Path) -> None:
    stub.world.left.clear()
    assert bench.fault(tmp_path, "outside", 1)["call"] is None
    until = time.monotonic() + 30
    while not stub.world.left and time.monotonic() < until:  # the stub hears of the process's end after we do
        time.sleep(0.01)
    assert stub.world.left == ["1 allocations", "1 modules"]


def test_wrong_uses_are_seen() -> None:
    with hip_stub(toolchain(), COMPILED) as libraries:
        driver = open_driver("amd", libraries.library)
        device = driver.device()
        memory, mark = device.allocate(16), device.event()
        memory.free()
        for use in (memory.free, lambda: memory.fill(0), lambda: mark.since_us(mark), mark.wait):
            with pytest.raises(CallFailed):
                use()
    assert len(libraries.world.violations) == 4
    assert libraries.world.left == ["1 events"]


def test_another_device_than_there_is_and_another_library_than_there_is(stub: Stub) -> None:
    with pytest.raises(MachineError, match="there is no amd GPU 1: the driver finds 1"):
        open_driver("amd", stub.library).device(1)
    with pytest.raises(MachineError, match=r"nowhere/libamdhip64\.so is missing.*ROCm"):
        open_driver("amd", "nowhere/libamdhip64.so")


@pytest.mark.parametrize("table", [CUDA, HIP], ids=["cuda", "hip"])
def test_the_tables_speak_of_kinds_that_exist(table: object) -> None:
    assert table in (CUDA, HIP)
    symbols = CUDA if table is CUDA else HIP
    kinds = {*symbols.faults.values(), *symbols.refusals.values(), *((k, t) for _, k, t in symbols.last_words)}
    assert {kind for kind, _ in kinds} <= set(FINDING_KINDS)
    assert not symbols.lost & (set(symbols.faults) | set(symbols.refusals))


CUDA_H = Path("/usr/local/cuda/include/cuda.h")


@pytest.mark.skipif(not CUDA_H.is_file(), reason="the CUDA toolkit's headers are not installed here")
def test_the_numbers_are_those_of_cuda_h() -> None:
    import re

    text = CUDA_H.read_text(encoding="utf-8", errors="replace")
    numbers = {n: int(v, 0) for n, v in re.findall(r"\b(CU\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)\s*[,/}\n]", text)}
    faults = {
        "ILLEGAL_ADDRESS": "out_of_bounds",
        "MISALIGNED_ADDRESS": "misaligned",
        "LAUNCH_TIMEOUT": "timeout",
        "HARDWARE_STACK_ERROR": "stack_overflow",
        "ASSERT": "wrong_result",
        "LAUNCH_FAILED": "out_of_bounds",
        "ILLEGAL_INSTRUCTION": "wrong_result",
        "INVALID_ADDRESS_SPACE": "out_of_bounds",
        "INVALID_PC": "wrong_result",
        "TENSOR_MEMORY_LEAK": "wrong_result",
    }
    assert {numbers[f"CUDA_ERROR_{n}"]: k for n, k in faults.items()} == {s: k for s, (k, _) in CUDA.faults.items()}
    for name in ("ECC_UNCORRECTABLE", "NO_DEVICE", "CONTAINED", "SYSTEM_DRIVER_MISMATCH", "UNKNOWN"):
        assert numbers[f"CUDA_ERROR_{name}"] in CUDA.lost
    attributes = {
        "units": "MULTIPROCESSOR_COUNT",
        "wave": "WARP_SIZE",
        "clock_khz": "CLOCK_RATE",
        "memory_clock_khz": "MEMORY_CLOCK_RATE",
        "bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
        "l2_bytes": "L2_CACHE_SIZE",
        "major": "COMPUTE_CAPABILITY_MAJOR",
        "minor": "COMPUTE_CAPABILITY_MINOR",
        "shared_per_unit": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        "shared_per_block": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        "registers_per_unit": "MAX_REGISTERS_PER_MULTIPROCESSOR",
        "threads_per_unit": "MAX_THREADS_PER_MULTIPROCESSOR",
        "threads_per_block": "MAX_THREADS_PER_BLOCK",
    }
    assert {n: numbers[f"CU_DEVICE_ATTRIBUTE_{a}"] for n, a in attributes.items()} == dict(CUDA.device_attributes)
