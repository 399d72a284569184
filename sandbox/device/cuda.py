"""The CUDA driver API (libcuda.so.1) as a symbol table; numbers are those of cuda.h."""

from __future__ import annotations

import ctypes

from sandbox.device.symbols import Call, Symbols


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


CUDA = Symbols(
    vendor="nvidia",
    libraries=("libcuda.so.1", "libcuda.so"),
    remedy="install NVIDIA's driver, or use the lab (`--on lab`), which needs no GPU",
    functions={
        "init": "cuInit", "version": "cuDriverGetVersion", "count": "cuDeviceGetCount", "device": "cuDeviceGet",
        "retain": "cuDevicePrimaryCtxRetain", "use": "cuCtxSetCurrent", "name": "cuDeviceGetName",
        "total": "cuDeviceTotalMem_v2", "attribute": "cuDeviceGetAttribute", "allocate": "cuMemAlloc_v2",
        "free": "cuMemFree_v2", "copy_in": "cuMemcpyHtoD_v2", "copy_out": "cuMemcpyDtoH_v2",
        "fill": "cuMemsetD32Async", "load": "cuModuleLoadData", "unload": "cuModuleUnload",
        "kernel": "cuModuleGetFunction", "kernel_attribute": "cuFuncGetAttribute",
        "set_kernel_attribute": "cuFuncSetAttribute",
        "blocks_per_unit": "cuOccupancyMaxActiveBlocksPerMultiprocessor", "launch": "cuLaunchKernel",
        "synchronize": "cuCtxSynchronize", "create_event": "cuEventCreate", "destroy_event": "cuEventDestroy_v2",
        "record": "cuEventRecord", "wait_event": "cuEventSynchronize", "elapsed": "cuEventElapsedTime",
    },
    device_attributes={
        "units": 16, "wave": 10, "clock_khz": 13, "memory_clock_khz": 36, "bus_bits": 37, "l2_bytes": 38,
        "major": 75, "minor": 76, "shared_per_unit": 81, "shared_per_block": 97, "registers_per_unit": 82,
        "threads_per_unit": 39, "threads_per_block": 1,
    },
    kernel_attributes={"threads": 0, "shared_bytes": 1, "local_bytes": 3, "registers": 4},
    dynamic_shared_attribute=8,
    select=_select,
    describe=_describe,
)
