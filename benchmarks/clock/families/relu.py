"""MGPUSim's relu: the positive part, four bytes a work-item."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("relu").points
