"""MGPUSim's nbody: bodies that attract each other, whose tile is in global memory, one for all workgroups."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("nbody").points
