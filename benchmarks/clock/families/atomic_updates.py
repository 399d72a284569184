"""Atomic additions of system scope on one address and on 1,024, on an MI300A; the kernel is ours."""

from __future__ import annotations

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORIES = ()
points = KernelFamily("atomic_updates").points
