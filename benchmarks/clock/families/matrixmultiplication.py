"""MGPUSim's matrixmultiplication: its tile of the left matrix is in global memory, one for all workgroups."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("matrixmultiplication").points
