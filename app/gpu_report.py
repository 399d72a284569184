"""GPUs that `doctor` tries: what confines their processes, and the report to send us from a machine with an MI300X."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

from app.machine import Capability
from records.errors import ScientistError
from records.quantity import counted
from sandbox.target import Target

ISSUE = "please open an issue with the lines that begin with MI300X, whatever they say"


def examine_fence(target: Target, cache: Path, library: str | None = None) -> Capability:
    """Examine the fence in which this machine's GPU works; a broken part is a line, never an exception."""
    from sandbox.candidate.parse import parse
    from sandbox.gpu.child_link import GpuSlot
    from sandbox.gpu.compile.gpu_compiler import GpuCompiler
    from sandbox.gpu.fence import SUMMARY
    from sandbox.gpu.fence_choice import fenced
    from sandbox.gpu.trusted.trusted import SOURCE

    compiler = GpuCompiler(target, cache, runtime_library=library)
    name, remedy = f"{target.title} isolation", "use Linux 5.13 or later with Landlock"

    def image() -> bytes:
        return compiler.compile(parse(SOURCE.read_text(encoding="utf-8")), {}).image

    try:
        slot, _ = fenced(GpuSlot(target.vendor, 0, library), image, lambda gpu: target.arch.startswith(gpu.arch))
    except ScientistError as error:
        return Capability(name, "missing", str(error), "no kernel can run on this GPU")
    finally:
        compiler.close()
    is_weak = slot.fence in ("filter", "open")
    return Capability(name, "warn" if is_weak else "ok", f"{slot.fence} ({SUMMARY[slot.fence]})", remedy)


def examine_amd(cache: Path, library: str | None = None) -> Iterator[Capability]:
    """Yield the block to send; a broken part is a line, never an exception. `library` is opened, not ROCm's own."""
    from sandbox.candidate.parse import parse
    from sandbox.gpu.child_fault import ChildFault
    from sandbox.gpu.child_link import GpuSlot
    from sandbox.gpu.child_process import ChildProcess
    from sandbox.gpu.compile.gpu_compiler import GpuCompiler
    from sandbox.gpu.gpu_pool import check
    from sandbox.gpu.trusted.trusted import SOURCE
    from sandbox.target import load_target

    target, image = load_target("mi300x"), b""
    compiler = GpuCompiler(target, cache, runtime_library=library)
    with ChildProcess(GpuSlot(target.vendor, 0, library)) as child:
        try:
            gpu = child.open().properties
            sizes = gpu.attributes
            memory = f"{gpu.memory_bytes / (1 << 30):.0f} GiB, L2 {sizes['l2_bytes'] >> 20} MiB"
            yield Capability(
                "MI300X device",
                "ok",
                f"{gpu.fingerprint}, {sizes['units']} units of {sizes['wave']} lanes, {memory}, {gpu.pci}",
            )
        except ScientistError as error:
            yield Capability("MI300X device", "missing", str(error), ISSUE)
        try:
            compilation = compiler.compile(parse(SOURCE.read_text(encoding="utf-8")), {})
            image = compilation.image
            summary = "; ".join(f.message for f in compilation.findings) or counted(len(compilation.kernels), "kernel")
            fence = "fenced" if compiler.description.fenced else "not fenced"
            yield Capability(
                "MI300X compiler", "ok" if image else "warn", f"{compiler.version}, {fence}: {summary}", ISSUE
            )
        except ScientistError as error:
            yield Capability("MI300X compiler", "missing", str(error), ISSUE)
        try:
            if not image or child.is_broken:
                raise ScientistError("not done, as device or compiler are missing")
            child.trust(image)
            check(child)
            yield Capability("MI300X test", "ok", "a kernel with a known result gives it")
        except (ScientistError, ChildFault) as error:
            yield Capability("MI300X test", "warn", str(error), ISSUE)
    compiler.close()
    yield Capability("MI300X", "warn", "this project has only run on a stand-in for this GPU", ISSUE)


def has_amd() -> bool:
    """Tell whether there is a HIP library and the amdgpu driver is loaded."""
    from sandbox.gpu.driver.hip import HIP

    if not Path("/dev/kfd").exists():
        return False
    for name in HIP.libraries:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False
