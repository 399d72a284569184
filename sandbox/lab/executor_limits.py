"""Limits of the executor's process, and of the workspaces that the lab watches byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from records.evaluation import Finding
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.asked_workgroups import together
from sandbox.lab.executor_request import Buffer, MemoryLayout, Work
from sandbox.process import ProcessLimits
from sandbox.target import Target

STREAMS = "stream.bin"  # the file in the executor's folder
BASE_BYTES = 512 << 20  # whatever is executed; the largest of our kernels needs 160 MiB, stacks included
WORKER_BYTES = 64 << 20  # stacks of one worker's work-items: 64 KiB each
REGION_BYTES = 8 << 20  # of huge pages that a buffer's shadow fills in part
SHADOW = 8  # bytes for each that is written, itself included
RECORDS_BYTES = 3 << 29  # of the accesses of a few workgroups, when counting
COUNTED_BYTES = 1 << 30  # at most, of what is written when counting
WORKSPACE_BYTES, WORKSPACE_SHARE = 128 << 20, 4  # and times the task's own buffers
POISONED_BYTES_S = 2e8  # at least
TOGETHER, TOGETHER_ITEMS = 608, 304 << 10  # workgroups that wait for each other, and their work-items: 2.5 GB of stacks
WORKERS_BYTES = 4 << 30  # at most, of all workers


def executor_limits(work: Work, layout: MemoryLayout, count: bool) -> ProcessLimits:
    """Limits beyond the executor's own deadline.

    Inputs and outputs are in files. Anonymous are workspaces, the shadow of what is written, the stacks of the
    work-items and, when counting, what a few workgroups write. Workgroups with outputs of their own that stride over
    the whole grid touch every page of each.
    """
    written_bytes = sum(region.size for region in layout.regions if region.buffer.role != "input")
    watched = RECORDS_BYTES + min(written_bytes, COUNTED_BYTES) if count else SHADOW * written_bytes
    return ProcessLimits(
        cpu_s=int(2 * work.deadline_s + layout.memory / POISONED_BYTES_S) + 10,
        file_bytes=64 << 20,
        resident_bytes=BASE_BYTES
        + min(max(work.workers, work.together) * WORKER_BYTES, WORKERS_BYTES)
        + watched
        + len(layout.regions) * REGION_BYTES,
        folder_bytes=layout.memory + layout.masks + (256 << 20),
        threads=work.workers + 8,
    )


def too_many_together(plan: ResolvedPlan) -> Finding | None:
    """Give the reason not to execute a plan of which more workgroups must run at once than can; else None."""
    for launch, count in zip(plan.launches, together(plan), strict=True):
        if count > TOGETHER or count * launch.threads > TOGETHER_ITEMS:
            message = (
                f"{count} workgroups of {launch.kernel} must run at once to wait for each other, at most {TOGETHER} "
                f"of {TOGETHER_ITEMS // TOGETHER} work-items can; let each do more, or say cooperative = false in a "
                "launch that never waits for the grid"
            )
            return Finding("over_limit", message, launch.line)
    return None


def unwatchable(buffers: Sequence[Buffer]) -> Finding | None:
    """Give the reason not to execute a plan with workspaces far larger than what the task moves; else None."""
    sizes = [(buffer.role == "workspace", int(buffer.data.nbytes)) for buffer in buffers]
    workspace_bytes = sum(size for is_workspace, size in sizes if is_workspace)
    most = WORKSPACE_BYTES + WORKSPACE_SHARE * sum(size for is_workspace, size in sizes if not is_workspace)
    if workspace_bytes <= most:
        return None
    message = (
        f"the workspaces take {workspace_bytes >> 20} MiB on this case, of which the lab can watch {most >> 20} MiB; "
        "let them grow with the task's buffers"
    )
    return Finding("over_limit", message)


def device_words(target: Target) -> tuple[int, ...]:
    """List the last words of the request's header: what the counters must know of the device, see runtime/request.h."""
    memory = target.memory
    return (
        target.wave,
        int(memory.get("sector_bytes", 64)),
        int(memory.get("sector_bytes", memory["line_bytes"])),
        min(target.wave, int(memory.get("l1_lanes_per_clock", 16))),
        int(memory["l1_bytes_per_clock"]),
        int(memory.get("joins_global", 1)),
    )


def keep_streams(source: Path, to: Path) -> None:
    """Copy as much of the file as the executor has used: its second word says how much."""
    with source.open("rb") as file:
        used = int.from_bytes(file.read(16)[8:], "little")
        file.seek(0)
        to.write_bytes(file.read(8 * used))
