"""The choice of the level: each is tried with a process that opens the driver and runs a known kernel behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from records.errors import DeviceError, MachineError
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.child_replies import OpenReply
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.fence import FENCES, SUMMARY, Fence
from sandbox.gpu.gpu_pool import check


def fenced(
    slot: GpuSlot,
    image: Callable[[], bytes],
    fits: Callable[[GpuProperties], bool],
    make: Callable[[GpuSlot], ChildProcess] = ChildProcess,
) -> tuple[GpuSlot, OpenReply]:
    """Choose the strongest level on which the slot's GPU works; return the slot with it, and that GPU.

    `image` compiles the judge's own kernels, for a GPU that `fits`; another one is only described. DeviceError when the
    GPU works on none, by what it said on the last.
    """
    last = DeviceError(f"GPU {slot.index} cannot be used")
    for fence in FENCES:
        with make(replace(slot, fence=fence)) as child:
            try:
                opened = child.open()
                if fits(opened.properties):
                    child.trust(image())
                    check(child)
                return replace(slot, fence=opened.fence), opened
            except ChildFault as fault:
                last = DeviceError(fault.message)
            except DeviceError as error:
                last = error
    raise last


def require_fence(fence: Fence, allowed: str) -> None:
    """Raise MachineError where unwatched work would have the user's files, and nobody has allowed that in words."""
    if fence in ("filter", "open") and allowed != "limits":
        raise MachineError(
            f"the GPU's process has {SUMMARY[fence]} here, so it could read and write your files: use Linux 5.13 or "
            "later with Landlock, or allow it with --isolation limits"
        )
