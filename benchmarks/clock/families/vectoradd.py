"""MGPUSim's vectoradd: a[i] = b[i] + c[i], four bytes a work-item."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("vectoradd").points
