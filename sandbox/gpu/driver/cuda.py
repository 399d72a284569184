"""The CUDA driver API (libcuda.so.1) as a symbol table; numbers are those of cuda.h."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from sandbox.gpu.driver.library import Call, Symbols


def _select(call: Call, index: int) -> ctypes.c_int:
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("device", ctypes.byref(device), index)
    call("retain", ctypes.byref(context), device)
    call("use", context)
    return device


def _describe(library: ctypes.CDLL, status: int) -> str:
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    library.cuGetErrorName(status, ctypes.byref(name))
    library.cuGetErrorString(status, ctypes.byref(text))
    return f"{(name.value or b'?').decode()}: {(text.value or b'?').decode()}"


def _arch(call: Call, device: ctypes.c_int, attributes: Mapping[str, int]) -> str:
    return f"sm_{attributes['major']}{attributes['minor']}"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


_OUTSIDE = "the kernel read or wrote outside of its buffers"
_CRASHED = "the kernel was stopped by the GPU"
_TOO_LARGE = "the GPU refuses the launch"
CUDA = Symbols(
    vendor="nvidia",
    libraries=("libcuda.so.1", "libcuda.so"),
    remedy="install NVIDIA's driver, or use the lab (`--on lab`), which needs no GPU",
    environment={"CUDA_DEVICE_MAX_CONNECTIONS": "1"},  # one stream needs no more, and a context begins in half the time
    functions={
        "init": "cuInit",
        "version": "cuDriverGetVersion",
        "count": "cuDeviceGetCount",
        "device": "cuDeviceGet",
        "retain": "cuDevicePrimaryCtxRetain",
        "use": "cuCtxSetCurrent",
        "name": "cuDeviceGetName",
        "total": "cuDeviceTotalMem_v2",
        "attribute": "cuDeviceGetAttribute",
        "allocate": "cuMemAlloc_v2",
        "free": "cuMemFree_v2",
        "copy_in": "cuMemcpyHtoD_v2",
        "copy_out": "cuMemcpyDtoH_v2",
        "fill": "cuMemsetD32Async",
        "load": "cuModuleLoadData",
        "unload": "cuModuleUnload",
        "kernel": "cuModuleGetFunction",
        "kernel_attribute": "cuFuncGetAttribute",
        "set_kernel_attribute": "cuFuncSetAttribute",
        "blocks_per_unit": "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "launch": "cuLaunchKernel",
        "launch_together": "cuLaunchCooperativeKernel",
        "synchronize": "cuCtxSynchronize",
        "create_event": "cuEventCreate",
        "destroy_event": "cuEventDestroy_v2",
        "record": "cuEventRecord",
        "wait_event": "cuEventSynchronize",
        "elapsed": "cuEventElapsedTime",
        "global": "cuModuleGetGlobal_v2",
        "copy": "cuMemcpyDtoDAsync_v2",
        "parameter": "cuFuncGetParamInfo",
        "memory": "cuMemGetInfo_v2",
        "reset_persisting": "cuCtxResetPersistingL2Cache",
        "limit": "cuCtxSetLimit",
        "pci": "cuDeviceGetPCIBusId",
    },
    device_attributes={
        "units": 16,
        "wave": 10,
        "clock_khz": 13,
        "memory_clock_khz": 36,
        "bus_bits": 37,
        "l2_bytes": 38,
        "major": 75,
        "minor": 76,
        "shared_per_unit": 81,
        "shared_per_block": 97,
        "registers_per_unit": 82,
        "threads_per_unit": 39,
        "threads_per_block": 1,
    },
    kernel_attributes={"threads": 0, "shared_bytes": 1, "local_bytes": 3, "registers": 4},
    dynamic_shared_attribute=8,
    heap_limit=2,
    faults={
        700: ("out_of_bounds", f"{_OUTSIDE} (illegal address)"),
        702: ("timeout", "the kernel ran into the driver's own time limit"),
        710: ("wrong_result", "an assert in the kernel failed"),
        714: ("stack_overflow", "the kernel's stack overflowed or was overwritten"),
        715: ("wrong_result", f"{_CRASHED} (illegal instruction)"),
        716: ("misaligned", "the kernel read or wrote an address that is not a multiple of the access's size"),
        717: ("out_of_bounds", f"{_OUTSIDE} (an address of another memory space)"),
        718: ("wrong_result", f"{_CRASHED} (it jumped to an invalid place)"),
        719: ("out_of_bounds", f"{_CRASHED} (an access outside of shared memory, an invalid pointer or a trap)"),
        721: ("wrong_result", "the kernel left tensor memory allocated"),
    },
    refusals={
        1: ("over_limit", f"{_TOO_LARGE}: grid, block or dynamic shared memory is beyond a limit"),
        2: ("over_limit", f"{_TOO_LARGE}: the kernel's local memory does not fit into the GPU's"),
        701: ("over_limit", f"{_TOO_LARGE}: too many registers or too much shared memory for a block of this size"),
        720: ("over_limit", f"{_TOO_LARGE}: the blocks do not fit on the GPU at the same time"),
        912: ("over_limit", f"{_TOO_LARGE}: the cluster's size is invalid"),
    },
    # no initialisation, stub library, no or unavailable device, invalid or destroyed context, ECC, NVLink, contained
    # hardware error, operating system, driver mismatch and MPS, reset for a new key, unknown
    lost=frozenset({3, 4, 34, 35, 36, 46, 100, 101, 102, 201, 214, 220, 226, 304, 709, *range(802, 811), 916, 999}),
    last_words=(),
    select=_select,
    arch=_arch,
    version=_version,
    describe=_describe,
)
