"""MGPUSim's stencil2d: a nine-point stencil by tiles of 16 by 64 in LDS."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("stencil2d").points
