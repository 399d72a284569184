"""Hold a resolved plan against the target's limits and the code object's own metadata, before anything is launched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from records.evaluation import Finding, Resources
from records.quantity import counted
from sandbox.candidate.kernel import KernelArgument, KernelMetadata
from sandbox.candidate.resolve import (
    DTYPE_BYTES,
    BufferArg,
    NullArg,
    ResolvedLaunch,
    ResolvedPlan,
    ScalarArg,
    StructArg,
)
from sandbox.target import Target


def check_limits(plan: ResolvedPlan, target: Target, kernels: Sequence[KernelMetadata] = ()) -> tuple[Finding, ...]:
    """One `over_limit` finding for every launch that the GPU would refuse."""
    return tuple(
        Finding("over_limit", message, line=launch.line, kernel=launch.kernel)
        for launch in plan.launches
        for message in _excesses(launch, target, find_kernel(launch.kernel, kernels))
    )


def check_arguments(plan: ResolvedPlan, kernels: Sequence[KernelMetadata]) -> tuple[Finding, ...]:
    """One `over_limit` finding for every launch whose arguments do not match the kernel's own; empty when all do."""
    findings = []
    for launch in plan.launches:
        same = [k for k in kernels if launch.kernel in (k.name, k.symbol)]
        if len(same) == 1:
            findings += [Finding("over_limit", m, launch.line, launch.kernel) for m in mismatches(launch, same[0].args)]
            continue
        names = ", ".join(sorted(k.name for k in kernels)) or "none"
        message = (
            f"the source has {len(same)} kernels named {launch.kernel!r}; name one of them by its namespace, or give "
            "each its own name"
            if same
            else f"the plan launches {launch.kernel!r}, but the source has no such kernel; it has: {names} "
            "(a template is launched by an instantiation, such as name<float, 256>)"
        )
        findings.append(Finding("compile_error", message, launch.line, launch.kernel))
    return tuple(findings)


def find_kernel(name: str, kernels: Iterable[KernelMetadata]) -> KernelMetadata | None:
    """Find the kernel of this source name or symbol."""
    return next((k for k in kernels if name in (k.name, k.symbol)), None)


def _excesses(launch: ResolvedLaunch, target: Target, kernel: KernelMetadata | None) -> list[str]:
    limits, excesses = target.limits, []
    allowed = limits["threads_per_block"]
    if launch.threads > allowed:
        excesses.append(
            f"the block of {launch.kernel} is {_times(launch.block)} = {launch.threads} work-items; "
            f"{target.name} allows {allowed}"
        )
    elif kernel and launch.threads > kernel.max_block:
        excesses.append(
            f"the block of {launch.kernel} is {_times(launch.block)} = {launch.threads} work-items, but the "
            f"kernel is compiled for at most {kernel.max_block}; raise its __launch_bounds__"
        )
    excesses += [
        f"the grid of {launch.kernel} is {_times(launch.grid)}; no extent may be larger than {limits['grid']}"
        for extent in (max(launch.grid),)
        if extent > limits["grid"]
    ]
    promised = kernel.max_grid if kernel else (0, 0, 0)
    excesses += [
        f"the grid of {launch.kernel} is {_times(launch.grid)}, but the kernel is compiled for at most {most} "
        f"workgroups along {axis}; leave amdgpu_max_num_work_groups out"
        for axis, extent, most in zip("xyz", launch.grid, promised, strict=True)
        if most and extent > most
    ]
    wide = [
        f"{axis}: {count * size}"
        for axis, count, size in zip("xyz", launch.grid, launch.block, strict=True)
        if count * size >= 1 << 32
    ]
    if wide and not excesses:
        excesses.append(f"grid times block of {launch.kernel} does not fit into 32 bits ({', '.join(wide)} work-items)")
    static = kernel.lds_bytes if kernel else 0
    if static + launch.lds_bytes > limits["lds_bytes"]:
        excesses.append(
            f"{launch.kernel} needs {static + launch.lds_bytes} bytes of LDS ({static} static and "
            f"{launch.lds_bytes} dynamic); {target.name} has {limits['lds_bytes']} per block"
        )
    return excesses


def mismatches(launch: ResolvedLaunch, kernel_args: Sequence[KernelArgument]) -> list[str]:
    """Write a sentence for each argument of a launch that is not what its kernel takes."""
    if len(launch.args) != len(kernel_args):
        return [
            f"the plan passes {counted(len(launch.args), 'argument')} to {launch.kernel}, but the kernel takes "
            f"{len(kernel_args)}"
        ]
    messages = []
    for number, (passed, expected) in enumerate(zip(launch.args, kernel_args, strict=True), 1):
        label = f"argument {number} of {launch.kernel}"
        if isinstance(passed, (BufferArg, NullArg)) and not expected.buffer:
            pointer = f"the buffer {passed.name!r}" if isinstance(passed, BufferArg) else "a null pointer"
            messages.append(
                f"{label}: the plan passes {pointer}, but the kernel takes a value of {expected.size} bytes"
            )
        elif isinstance(passed, StructArg) and (expected.buffer or passed.size != expected.size):
            takes = "a pointer" if expected.buffer else f"a value of {expected.size} bytes"
            messages.append(f"{label}: the plan passes a struct of {passed.size} bytes, but the kernel takes {takes}")
        elif isinstance(passed, ScalarArg) and expected.buffer:
            messages.append(
                f"{label}: the plan passes the {passed.dtype} value {passed.value}, but the kernel takes a pointer"
            )
        elif isinstance(passed, ScalarArg) and DTYPE_BYTES[passed.dtype] != expected.size:
            hint = "; write NAME:i64 in args" if passed.dtype == "i32" and expected.size == 8 else ""
            messages.append(
                f"{label}: the plan passes {passed.dtype} ({DTYPE_BYTES[passed.dtype]} bytes), but the "
                f"kernel takes a value of {expected.size} bytes{hint}"
            )
    return messages


def waves_per_simd(kernel: KernelMetadata, threads: int, dynamic_lds_bytes: int, target: Target) -> int:
    """Waves that fit on one SIMD for this block size: the smaller of what registers and LDS allow; 0 when none fits."""
    limits = target.limits
    if target.vendor != "amd":
        return 0
    by_registers = waves_by_registers(kernel.vgpr, kernel.sgpr, target)
    waves, simds = -(-threads // target.wave), limits["simd_per_unit"]
    lds = -(-(kernel.lds_bytes + dynamic_lds_bytes) // limits["lds_granule"]) * limits["lds_granule"]
    blocks = limits["lds_bytes"] // lds if lds else limits["waves_per_simd"] * simds
    if waves > 1:  # a block of one wave needs no barrier and takes none of the unit's slots for them
        blocks = min(blocks, limits["blocks_per_unit"])
    by_lds = -(-blocks * waves // simds)
    return max(0, min(by_registers, by_lds))


def waves_by_registers(vgpr: int, sgpr: int, target: Target) -> int:
    """Waves whose registers fit on one SIMD of AMD's; `vgpr` are all vector registers of a lane."""
    limits, granule = target.limits, target.limits["vgpr_granule"]
    vector = limits["vgpr_per_lane"] // (-(-max(1, vgpr) // granule) * granule)
    return min(limits["waves_per_simd"], vector, 800 // (-(-max(1, sgpr) // 16) * 16))


def resources_of(
    kernels: Sequence[KernelMetadata], target: Target, plans: Sequence[ResolvedPlan] = ()
) -> tuple[Resources, ...]:
    """Resources of every kernel, with the fewest waves per SIMD that any of the plans' launches leaves it.

    A kernel that no plan launches is rated at the largest block it was compiled for, without dynamic LDS.
    """
    resources = []
    for kernel in kernels:
        uses = {(x.threads, x.lds_bytes) for p in plans for x in p.launches if x.kernel in (kernel.name, kernel.symbol)}
        waves = min((waves_per_simd(kernel, *use, target) for use in uses or {(kernel.max_block, 0)}), default=0)
        resources.append(
            Resources(
                kernel.name,
                kernel.vgpr - kernel.agpr,
                kernel.agpr,
                kernel.sgpr,
                kernel.lds_bytes,
                kernel.scratch_bytes,
                waves,
                kernel.instructions,
            )
        )
    return tuple(resources)


def _times(extent: tuple[int, int, int]) -> str:
    used = extent[: 1 + max((i for i in (1, 2) if extent[i] != 1), default=0)]
    return "x".join(map(str, used)) if math.prod(extent) else str(extent)
