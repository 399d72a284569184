"""The HIP runtime (libamdhip64.so) as a symbol table; numbers are those of hip_runtime_api.h since ROCm 6.

ROCm's runtime ends the process by SIGABRT at most faults of a kernel instead of returning a status; what it prints then
is in `last_words`.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping

from sandbox.gpu.driver.library import Call, Symbols

_PROPERTIES_BYTES = 16384  # ROCm 6 and 7 write 1,472 of them
_NAME_BYTES = 256  # the structure begins with the marketing name, which may hold anything
_ARCH = re.compile(rb"gfx[0-9a-f]{3,5}(?![0-9a-z])")


def _select(call: Call, index: int) -> ctypes.c_int:
    device = ctypes.c_int()
    call("device", ctypes.byref(device), index)
    call("use", device)
    return device


def _arch(call: Call, device: ctypes.c_int, attributes: Mapping[str, int]) -> str:
    """Find the one text "gfx..." in the properties, wherever this version of the structure keeps it."""
    properties = ctypes.create_string_buffer(_PROPERTIES_BYTES)
    call("properties", properties, device)
    match = _ARCH.search(properties.raw, _NAME_BYTES)
    return match[0].decode() if match else f"gfx{attributes['major']}{attributes['minor']}x"


def _version(number: int) -> str:
    return f"{number // 10_000_000}.{number // 100_000 % 100}.{number % 100_000}"


def _describe(library: ctypes.CDLL, status: int) -> str:
    texts = []
    for function in (library.hipGetErrorName, library.hipGetErrorString):
        function.restype = ctypes.c_char_p
        texts.append((function(status) or b"?").decode(errors="replace"))
    return ": ".join(texts)


_OUTSIDE = "the kernel read or wrote outside of its buffers"
_CRASHED = "the kernel was stopped by the GPU"
_TOO_LARGE = "the GPU refuses the launch"
HIP = Symbols(
    vendor="amd",
    libraries=("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"),
    remedy="install ROCm, or use the lab (`--on lab`), which needs no GPU",
    environment={},
    functions={
        "init": "hipInit",
        "version": "hipDriverGetVersion",
        "count": "hipGetDeviceCount",
        "device": "hipDeviceGet",
        "use": "hipSetDevice",
        "name": "hipDeviceGetName",
        "total": "hipDeviceTotalMem",
        "attribute": "hipDeviceGetAttribute",
        "properties": "hipGetDevicePropertiesR0600",
        "pci": "hipDeviceGetPCIBusId",
        "allocate": "hipMalloc",
        "free": "hipFree",
        "copy_in": "hipMemcpyHtoD",
        "copy_out": "hipMemcpyDtoH",
        "copy": "hipMemcpyDtoDAsync",
        "fill": "hipMemsetD32Async",
        "memory": "hipMemGetInfo",
        "limit": "hipDeviceSetLimit",
        "load": "hipModuleLoadData",
        "unload": "hipModuleUnload",
        "kernel": "hipModuleGetFunction",
        "global": "hipModuleGetGlobal",
        "kernel_attribute": "hipFuncGetAttribute",
        "blocks_per_unit": "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        "launch": "hipModuleLaunchKernel",
        "launch_together": "hipModuleLaunchCooperativeKernel",
        "synchronize": "hipDeviceSynchronize",
        "create_event": "hipEventCreateWithFlags",
        "destroy_event": "hipEventDestroy",
        "record": "hipEventRecord",
        "wait_event": "hipEventSynchronize",
        "elapsed": "hipEventElapsedTime",
    },
    device_attributes={
        "units": 63,
        "wave": 87,
        "clock_khz": 5,
        "memory_clock_khz": 60,
        "bus_bits": 59,
        "l2_bytes": 19,
        "major": 23,
        "minor": 61,
        "shared_per_unit": 10002,
        "shared_per_block": 74,
        "registers_per_unit": 72,
        "threads_per_unit": 57,
        "threads_per_block": 56,
    },
    kernel_attributes={"threads": 0, "shared_bytes": 1, "local_bytes": 3, "registers": 4},
    dynamic_shared_attribute=-1,
    heap_limit=2,
    faults={
        700: ("out_of_bounds", f"{_OUTSIDE} (illegal address)"),
        702: ("timeout", "the kernel ran into the driver's own time limit"),
        710: ("wrong_result", "an assert in the kernel failed"),
        719: ("out_of_bounds", f"{_CRASHED} (an access outside of LDS, an invalid pointer or a trap)"),
    },
    refusals={
        1: ("over_limit", f"{_TOO_LARGE}: grid, block or dynamic LDS is beyond a limit"),
        2: ("over_limit", f"{_TOO_LARGE}: the kernel's scratch memory does not fit into the GPU's"),
        9: ("over_limit", f"{_TOO_LARGE}: grid or block is beyond a limit"),
        701: ("over_limit", f"{_TOO_LARGE}: too many registers or too much LDS for a block of this size"),
        720: ("over_limit", f"{_TOO_LARGE}: the blocks do not fit on the GPU at the same time"),
    },
    # no initialisation, old driver, no device, invalid or destroyed context, ECC, operating system, unknown, HSA's own
    lost=frozenset({3, 4, 35, 100, 101, 201, 214, 304, 709, 999, 1052, 1053}),
    last_words=(
        (re.compile(r"Memory access fault by GPU"), "out_of_bounds", f"{_OUTSIDE} (memory access fault)"),
        (
            re.compile(r"HSA_STATUS_ERROR_MEMORY_(FAULT|APERTURE_VIOLATION)"),
            "out_of_bounds",
            f"{_OUTSIDE} (memory fault)",
        ),
        (re.compile(r"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"), "wrong_result", f"{_CRASHED} (illegal instruction)"),
        (re.compile(r"reason ?: ?GPU Hang", re.I), "timeout", "the GPU hung and was reset while the kernel ran"),
        (re.compile(r"HSA_STATUS_ERROR_EXCEPTION"), "wrong_result", f"{_CRASHED} (hardware exception)"),
        (re.compile(r"Device-side assertion"), "wrong_result", "an assert in the kernel failed"),
    ),
    select=_select,
    arch=_arch,
    version=_version,
    describe=_describe,
)
